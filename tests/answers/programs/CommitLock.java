package index;

import common.Case;
import common.Web;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.lucene.analysis.standard.StandardAnalyzer;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.StringField;
import org.apache.lucene.document.TextField;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.store.FSDirectory;

/** Notes that are indexed and made durable, each by itself (or all of a second at once). */
public class CommitLock {
    public static void main(String[] args) throws Exception {
        Case it = Case.of(args);
        IndexWriterConfig config = new IndexWriterConfig(new StandardAnalyzer());
        IndexWriter writer = new IndexWriter(FSDirectory.open(Path.of(it.folder(), "index")), config);
        Notes notes = new Notes(writer, it.planted(), it.strength(1, 3));
        Tags tags = new Tags();
        ScheduledExecutorService commits = Executors.newScheduledThreadPool(2, task -> {
            Thread thread = new Thread(task, "commits");
            thread.setDaemon(true);
            return thread;
        });
        if (!it.planted()) commits.scheduleWithFixedDelay(notes::commit, 1, 1, TimeUnit.SECONDS);
        new Web(it.folder())
                .on("/note", q -> "note " + notes.add(q.getParameter("text")))
                .on("/tag", q -> "tag " + tags.of(q.getParameter("text")))
                .start();
    }
}

class Notes {
    private final IndexWriter writer;
    private final boolean each;
    private final int every;
    private final AtomicLong ids = new AtomicLong();

    Notes(IndexWriter writer, boolean each, int every) {
        this.writer = writer;
        this.each = each;
        this.every = every;
    }

    long add(String text) throws IOException {
        long id = ids.incrementAndGet();
        Document document = new Document();
        document.add(new StringField("id", Long.toString(id), Field.Store.YES));
        document.add(new TextField("text", text + " number " + id, Field.Store.YES));
        writer.addDocument(document);
        if (each && id % every == 0) writer.commit(); // holder
        return id;
    }

    void commit() {
        try {
            writer.commit();
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }
}

/** A lock that many want, each for a moment: no harm. */
class Tags {
    private long tags;

    synchronized long of(String text) {
        for (int i = 0; i < 20_000; i++) tags = tags * 31 + text.charAt(i % text.length());
        return tags & 0xff;
    }
}
