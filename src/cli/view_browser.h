/* view_browser.h - the user's browser, on a page of ours. */
#ifndef ORCA_CLI_VIEW_BROWSER_H
#define ORCA_CLI_VIEW_BROWSER_H

/* Open the address, without waiting; where there is no browser to be had, say what to do instead.
 */
void view_browser_open(const char *url);

#endif
