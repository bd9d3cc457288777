package quiet;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import common.Case;
import common.Web;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.Timer;
import java.util.TimerTask;
import javax.sql.DataSource;

/** A server that has hardly anything to do: pools, timers and connections that wait for work.  Nothing is wrong with it. */
public class IdleServer {
    public static void main(String[] args) throws Exception {
        Case it = Case.of(args);
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl("jdbc:h2:mem:quiet;DB_CLOSE_DELAY=-1");
        config.setMaximumPoolSize(10);
        DataSource database = new HikariDataSource(config);
        ExecutorService fixed = Executors.newFixedThreadPool(12);
        ScheduledExecutorService ticks = Executors.newScheduledThreadPool(3);
        ThreadPoolExecutor mails = new ThreadPoolExecutor(4, 16, 30, TimeUnit.SECONDS, new SynchronousQueue<>());
        for (int i = 0; i < 12; i++) fixed.submit(() -> query(database));
        ticks.scheduleAtFixedRate(() -> fixed.submit(() -> query(database)), 1, 50, TimeUnit.MILLISECONDS);
        ticks.scheduleWithFixedDelay(() -> mails.execute(() -> query(database)), 1, 200, TimeUnit.MILLISECONDS);
        new Timer("reminder", true).schedule(new TimerTask() {
            @Override
            public void run() {
                mails.execute(() -> query(database));
            }
        }, 100, 300);
        new Web(it.folder()).on("/ping", q -> "one " + query(database)).start();
    }

    private static int query(DataSource database) {
        try (Connection c = database.getConnection(); Statement s = c.createStatement(); ResultSet r = s.executeQuery("select 1")) {
            return r.next() ? r.getInt(1) : 0;
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }
}
