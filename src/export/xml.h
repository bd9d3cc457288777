/* xml.h - text as the value of an XML attribute. */
#ifndef ORCA_EXPORT_XML_H
#define ORCA_EXPORT_XML_H

#include "base/buf.h"

/* Append `s` so that it may stand between double quotes in an XML 1.0 document of UTF-8.  Tab and
 * line breaks become character references, which a parser gives back and which keep the element on
 * its line.  U+FFFD stands for what such a document cannot hold: other control characters, U+FFFE,
 * U+FFFF, surrogates, and each byte that is not UTF-8. */
void xml_put(struct buf *b, const char *s);

#endif
