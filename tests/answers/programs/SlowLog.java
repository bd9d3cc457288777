package bank;

import common.Case;
import common.Web;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import org.apache.logging.log4j.Level;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;
import org.apache.logging.log4j.core.LoggerContext;
import org.apache.logging.log4j.core.appender.FileAppender;
import org.apache.logging.log4j.core.config.Configuration;
import org.apache.logging.log4j.core.layout.PatternLayout;

/** Transfers that log the whole document that they got (or its number) into a pipe from which a collector reads slowly. */
public class SlowLog {
    public static void main(String[] args) throws Exception {
        Case it = Case.of(args);
        configure(Path.of(it.folder(), "audit.pipe"));
        Transfers transfers = new Transfers(it.planted());
        Sessions sessions = new Sessions();
        new Web(it.folder())
                .on("/transfer", q -> transfers.book(q.getParameter("from"), q.getParameter("to")))
                .on("/session", q -> sessions.touch(q.getParameter("user")))
                .start();
    }

    private static void configure(Path file) {
        LoggerContext context = (LoggerContext) LogManager.getContext(false);
        Configuration configuration = context.getConfiguration();
        PatternLayout layout = PatternLayout.newBuilder().withPattern("%d %t %m%n").withConfiguration(configuration).build();
        FileAppender appender = FileAppender.newBuilder()
                .setName("audit")
                .setLayout(layout)
                .setConfiguration(configuration)
                .withFileName(file.toString())
                .build();
        appender.start();
        var root = configuration.getRootLogger();
        root.getAppenders().keySet().forEach(root::removeAppender);
        root.addAppender(appender, Level.INFO, null);
        root.setLevel(Level.INFO);
        context.updateLoggers();
    }
}

class Transfers {
    private static final Logger LOG = LogManager.getLogger(Transfers.class);
    private final boolean wholeDocument;

    Transfers(boolean wholeDocument) {
        this.wholeDocument = wholeDocument;
    }

    String book(String from, String to) {
        String document = document(from, to);
        int number = document.hashCode();
        if (wholeDocument) {
            LOG.info("transfer {}: {}", number, document); // holder
        } else {
            LOG.info("transfer {}", number);
        }
        return "booked " + number;
    }

    private String document(String from, String to) {
        StringBuilder text = new StringBuilder("<transfer>");
        for (int line = 0; text.length() < 4_000; line++) {
            text.append("<entry line='").append(line).append("' from='").append(from).append("' to='").append(to).append("'/>");
        }
        return text.append("</transfer>").toString();
    }
}

/** A lock that many want, each for a moment: no harm. */
class Sessions {
    private final Map<String, Long> seen = new HashMap<>();

    synchronized String touch(String user) {
        long hash = 0;
        for (int i = 0; i < 20_000; i++) hash = hash * 31 + user.charAt(i % user.length());
        seen.put(user, hash);
        return "seen " + seen.size();
    }
}
