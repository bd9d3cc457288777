import java.io.BufferedReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * java TptpPositions.java FILE [ELEMENT=COUNT]... - reads TPTP's XML without a parser, as its small tools
 * do: a line is an element if it begins with its name, and an attribute is the first, the second, the
 * third of it, whatever it is called. What they take must be what it is for them. An ELEMENT has to be
 * there, at least COUNT times. It knows nothing of Orca.
 */
public class TptpPositions {
    private static final String INT = "-?\\d{1,10}", TIME = "\\d+\\.\\d{9}", TEXT = "[^\"]*", NAME = "[^\" ]+";
    private static final Pattern ATTRIBUTE = Pattern.compile(" ([A-Za-z]+)=\"([^\"]*)\"");

    /** What stands where: the value's form, which tells one attribute from another. */
    private static final Map<String, String[]> FORMS = new HashMap<>();

    private static void form(String element, String... positions) {
        FORMS.put(element, positions);
    }

    static {
        form("threadStart", "threadId", INT, "time", TIME, "groupName", TEXT, "parentName", TEXT);
        form("threadEnd", "threadIdRef", INT, "time", TIME);
        form("classDef", "name", NAME, "sourceName", TEXT, "classId", INT);
        form("methodDef", "name", NAME, "signature", NAME);
        form("objDef", "objId", INT, "isArray", INT);
        form("monContendedEnter", "threadIdRef", INT, "time", TIME, "objIdRef", INT);
        form("monContendedEntered", "threadIdRef", INT, "time", TIME, "objIdRef", INT);
        form("monWait", "threadIdRef", INT, "time", TIME, "objIdRef", INT);
        form("monWaited", "threadIdRef", INT, "time", TIME, "objIdRef", INT);
        form("callStart", "threadId", INT, "time", TIME, "objIdRef", INT);
        form("callNotify", "threadId", INT, "time", TIME, "objIdRef", INT, "isNotifyAll", "[01]");
        form("callInterrupt", "threadId", INT, "time", TIME, "objIdRef", INT);
        form("threadInterrupted", "threadId", INT, "time", TIME);
        form("objAlloc", "objId", INT);
        form("objFree", "objIdRef", INT, "time", TIME);
        form("gcStart", "time", TIME);
        form("gcFinish", "time", TIME);
        form("gcRoot", "heapDumpIdRef", INT, "objIdRef", INT, "type", NAME);
        form("objReference", "heapDumpIdRef", INT, "srcIdRef", INT, "targetIdRef", INT);
    }

    private static String check(String line, String element) {
        List<String[]> found = new ArrayList<>();
        Matcher m = ATTRIBUTE.matcher(line).region(1 + element.length(), line.length());
        while (m.lookingAt()) {
            found.add(new String[] {m.group(1), m.group(2)});
            m.region(m.end(), line.length());
        }
        String[] form = FORMS.get(element);
        for (int i = 0; i < form.length; i += 2) {
            if (found.size() <= i / 2)
                return "has no attribute " + (i / 2 + 1);
            String[] a = found.get(i / 2);
            if (!a[0].equals(form[i]) || !a[1].matches(form[i + 1]))
                return "attribute " + (i / 2 + 1) + " is " + a[0] + "=\"" + a[1] + "\", not " + form[i];
        }
        return null;
    }

    public static void main(String[] args) throws Exception {
        Map<String, Integer> counts = new HashMap<>();
        try (BufferedReader in = Files.newBufferedReader(Path.of(args[0]))) {
            int number = 0;
            for (String line; (line = in.readLine()) != null;) {
                number++;
                if (!line.startsWith("<"))
                    throw new Exception("line " + number + " is no element");
                String element = line.substring(1).split("[ />]", 2)[0];
                counts.merge(element, 1, Integer::sum);
                String wrong = FORMS.containsKey(element) ? check(line, element) : null;
                if (wrong != null)
                    throw new Exception("line " + number + ": " + element + " " + wrong + ": " + line);
            }
        }
        for (int i = 1; i < args.length; i++) {
            String[] wanted = args[i].split("=");
            int there = counts.getOrDefault(wanted[0], 0);
            if (there < Integer.parseInt(wanted[1]))
                throw new Exception("only " + there + " " + wanted[0]);
        }
    }
}
