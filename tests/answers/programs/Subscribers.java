package news;

import com.google.common.eventbus.EventBus;
import com.google.common.eventbus.Subscribe;
import common.Case;
import common.Web;
import java.util.ArrayList;
import java.util.List;

/** Each visit subscribes to the news, and never (or at its end) takes that back. */
public class Subscribers {
    public static void main(String[] args) throws Exception {
        Case it = Case.of(args);
        EventBus bus = new EventBus("news");
        Desk desk = new Desk(bus, it.planted(), it.strength(20, 10));
        Archive archive = new Archive();
        new Web(it.folder())
                .on("/visit", q -> "lines " + desk.visit(q.getParameter("reader")))
                .on("/archive", q -> "kept " + archive.read(q.getParameter("reader")))
                .start();
    }
}

class Desk {
    private final EventBus bus;
    private final boolean forgetful;
    private final int headlines;

    Desk(EventBus bus, boolean forgetful, int headlines) {
        this.bus = bus;
        this.forgetful = forgetful;
        this.headlines = headlines;
    }

    int visit(String reader) {
        Visit visit = new Visit(reader, 24); // holder
        bus.register(visit);
        for (int i = 0; i < headlines; i++) bus.post("headline " + i + " of " + reader);
        if (!forgetful) bus.unregister(visit);
        return visit.lines();
    }
}

class Visit {
    private final String reader;
    private final List<byte[]> lines = new ArrayList<>();
    private String latest = "";

    Visit(String reader, int kilobytes) {
        this.reader = reader;
        for (int i = 0; i < kilobytes; i++) lines.add(new byte[1024]); // holder
    }

    @Subscribe
    public void headline(String text) {
        latest = text + " for " + reader;
    }

    int lines() {
        return lines.size() + latest.length();
    }
}

/** A cache that is full: it does not grow. */
class Archive {
    private final byte[][] pages = new byte[256][];
    private int next;

    synchronized int read(String reader) {
        for (int i = 0; i < 20_000; i++) next = next * 31 + reader.charAt(i % reader.length());
        pages[next & 255] = new byte[4096];
        return pages.length;
    }
}
