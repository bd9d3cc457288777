import java.io.File;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import javax.xml.parsers.SAXParserFactory;
import org.xml.sax.Attributes;
import org.xml.sax.SAXException;
import org.xml.sax.helpers.DefaultHandler;

/**
 * java TptpSax.java FILE [ELEMENT=COUNT]... - reads TPTP's XML as its tools do: event by event, ids as
 * ints, and every reference to an id that was defined before. An ELEMENT has to be there, at least
 * COUNT times. It knows nothing of Orca.
 */
public class TptpSax extends DefaultHandler {
    /** Which id an attribute defines, and in which space. */
    private static final Map<String, String> DEFINES = Map.of(
        "threadStart threadId", "thread", "threadStart objIdRef", "object", "classDef classId", "class",
        "classDef objId", "object", "methodDef methodId", "method", "objDef objId", "object",
        "objAlloc objId", "object", "heapDumpDef heapDumpId", "dump");
    private static final Map<String, String> UNDEFINES =
        Map.of("threadEnd threadIdRef", "thread", "objFree objIdRef", "object");
    private static final Map<String, String> REFERS = Map.ofEntries(
        Map.entry("threadIdRef", "thread"), Map.entry("threadId", "thread"),
        Map.entry("threadOwner", "thread"), Map.entry("objIdRef", "object"),
        Map.entry("srcIdRef", "object"), Map.entry("targetIdRef", "object"),
        Map.entry("classIdRef", "class"), Map.entry("methodIdRef", "method"),
        Map.entry("heapDumpIdRef", "dump"));
    private static final Set<String> NAMED = Set.of("nodeId", "processId", "agentId", "traceId");

    private final Map<String, Set<Integer>> known = new HashMap<>();
    private final Set<String> named = new HashSet<>();
    private final Map<String, Integer> counts = new HashMap<>();

    private Set<Integer> ids(String space) {
        return known.computeIfAbsent(space, s -> new HashSet<>());
    }

    private static int id(String element, String attribute, String value) throws SAXException {
        try {
            return Integer.parseInt(value);
        } catch (NumberFormatException e) {
            throw new SAXException(element + ": " + attribute + "=\"" + value + "\" is no int");
        }
    }

    @Override
    public void startElement(String uri, String local, String element, Attributes a) throws SAXException {
        counts.merge(element, 1, Integer::sum);
        for (int i = 0; i < a.getLength(); i++)
            take(element, a.getQName(i), a.getValue(i));
        if (element.equals("classDef") && a.getValue("sourceName") == null)
            throw new SAXException("classDef " + a.getValue("name") + " has no sourceName");
        if (element.equals("threadStart") && (a.getValue("groupName") == null || a.getValue("time") == null))
            throw new SAXException("threadStart " + a.getValue("threadId") + " lacks groupName or time");
    }

    private void take(String element, String name, String value) throws SAXException {
        String key = element + " " + name;
        if (DEFINES.containsKey(key)) {
            ids(DEFINES.get(key)).add(id(element, name, value));
            return;
        }
        if (NAMED.contains(name))
            named.add(value);
        else if (name.endsWith("IdRef") && named.contains(value))
            return;
        String space = REFERS.get(name);
        boolean sleeps = element.startsWith("monWait") && value.equals("-1");
        if (space == null || sleeps)
            return;
        int id = id(element, name, value);
        if (!ids(space).contains(id))
            throw new SAXException(key + "=\"" + value + "\": no such " + space);
        if (UNDEFINES.containsKey(key))
            ids(space).remove(id);
    }

    public static void main(String[] args) throws Exception {
        TptpSax reader = new TptpSax();
        SAXParserFactory.newInstance().newSAXParser().parse(new File(args[0]), reader);
        for (int i = 1; i < args.length; i++) {
            String[] wanted = args[i].split("=");
            int there = reader.counts.getOrDefault(wanted[0], 0);
            if (there < Integer.parseInt(wanted[1]))
                throw new SAXException("only " + there + " " + wanted[0]);
        }
    }
}
