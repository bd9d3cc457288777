package ledger;

import common.Case;
import common.Web;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.HashMap;
import java.util.Map;

/** A journal whose entries are synced one by one under its lock (or written and synced ten times a second, by a thread of its own). */
public class FileSynced {
    public static void main(String[] args) throws Exception {
        Case it = Case.of(args);
        Journal journal = new Journal(Path.of(it.folder(), "journal.log"), it.planted());
        Sessions sessions = new Sessions();
        new Web(it.folder())
                .on("/book", q -> journal.book(q.getParameter("entry")))
                .on("/session", q -> sessions.touch(q.getParameter("user")))
                .start();
    }
}

class Journal {
    private static final int ENTRIES = 20;
    private final FileChannel file;
    private final boolean each;
    private StringBuilder waiting = new StringBuilder();
    private long booked;

    Journal(Path path, boolean each) throws IOException {
        file = FileChannel.open(path, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        this.each = each;
        if (each) return;
        Thread syncer = new Thread(this::syncNowAndThen, "journal-sync");
        syncer.setDaemon(true);
        syncer.start();
    }

    synchronized String book(String entry) throws IOException {
        for (int i = 0; i < ENTRIES; i++) {
            booked++;
            if (!each) {
                waiting.append(booked).append(' ').append(entry).append('\n');
                continue;
            }
            write(booked + " " + entry + "\n");
            file.force(true); // holder
        }
        return "booked " + booked;
    }

    private void write(String text) throws IOException {
        file.write(ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8)));
    }

    private synchronized String taken() {
        String text = waiting.toString();
        waiting = new StringBuilder();
        return text;
    }

    private void syncNowAndThen() {
        try {
            for (;;) {
                Thread.sleep(100);
                write(taken());
                file.force(true);
            }
        } catch (IOException | InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}

/** A lock that many want, each for a moment: no harm. */
class Sessions {
    private final Map<String, Long> seen = new HashMap<>();

    synchronized String touch(String user) {
        long hash = 0;
        for (int i = 0; i < 20_000; i++) hash = hash * 31 + user.charAt(i % user.length());
        seen.put(user, hash);
        return "seen " + seen.size() + " " + hash;
    }
}
