package travel;

import common.Case;
import common.Web;
import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.URI;
import java.util.HashMap;
import java.util.Map;

/** A server that asks another one for each leg of a journey, one after the other (or keeps the answers). */
public class SlowPeer {
    public static void main(String[] args) throws Exception {
        Case it = Case.of(args);
        Timetable timetable = new Timetable(it.peer(), it.planted());
        Visits visits = new Visits();
        new Web(it.folder())
                .on("/journey", q -> timetable.journey(q.getParameter("from"), q.getParameter("to")))
                .on("/visit", q -> visits.count(q.getParameter("page")))
                .start();
    }
}

class Timetable {
    private static final int LEGS = 3;
    private final int port;
    private final boolean always;
    private final Map<String, String> known = new java.util.concurrent.ConcurrentHashMap<>();

    Timetable(int port, boolean always) {
        this.port = port;
        this.always = always;
    }

    String journey(String from, String to) throws IOException {
        StringBuilder legs = new StringBuilder();
        for (int leg = 0; leg < LEGS; leg++) {
            String name = from + "-" + to + "-" + leg;
            String found = always ? null : known.get(name);
            if (found == null) known.put(name, found = ask(name));
            legs.append(found).append(' ');
        }
        return legs.toString();
    }

    private String ask(String name) throws IOException {
        var url = URI.create("http://127.0.0.1:" + port + "/?ms=25&leg=" + name).toURL();
        HttpURLConnection connection = (HttpURLConnection) url.openConnection();
        if (connection.getResponseCode() != 200) throw new IOException("no such leg: " + name); // holder
        try (var body = connection.getInputStream()) {
            return name + " " + new String(body.readAllBytes()).strip();
        }
    }
}

/** A lock that many want, each for a moment: no harm. */
class Visits {
    private final Map<String, Integer> count = new HashMap<>();

    synchronized String count(String page) {
        int hash = 0;
        for (int i = 0; i < 20_000; i++) hash = hash * 31 + page.charAt(i % page.length());
        return page + " " + count.merge(page, 1, Integer::sum) + " " + hash;
    }
}
