/**
 * A database in memory, under a fixed amount of work: a real program that takes many locks which
 * nobody else wants.
 *
 * <pre>java -cp ...:h2.jar Database URL THREADS ROWS ROUNDS</pre>
 *
 * <p>Each thread has a connection and a table of its own. A round inserts ROWS rows one by one,
 * updates and looks up each, and deletes all; nothing in it depends on chance or on time. The first
 * third of the rounds warms up. Prints "round_ms X cpu_ms N rounds N sum N": the median round by the
 * clock, processor time a round of the whole process (its clock has ticks of 10 ms), all rounds (the first
 * included), and the sum of what was looked up.
 */
import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Arrays;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

public final class Database {
    /** One thread's part: a connection, its table and what is done with it. */
    private static final class Client implements Callable<Long> {
        private final int rows;
        private final PreparedStatement insert;
        private final PreparedStatement update;
        private final PreparedStatement find;
        private final PreparedStatement clear;

        Client(String url, int number, int rows) throws SQLException {
            this.rows = rows;
            String table = "account" + number;
            Connection connection = DriverManager.getConnection(url);
            try (Statement s = connection.createStatement()) {
                s.execute("create table " + table
                        + " (id int primary key, owner varchar(40), amount int)");
            }
            insert = connection.prepareStatement("insert into " + table + " values (?, ?, ?)");
            update = connection.prepareStatement(
                    "update " + table + " set amount = amount + ? where id = ?");
            find = connection.prepareStatement(
                    "select owner, amount from " + table + " where id = ?");
            clear = connection.prepareStatement("delete from " + table);
        }

        /** The others may wait for ever for one that failed. */
        @Override
        public Long call() {
            try {
                return work();
            } catch (SQLException | RuntimeException | Error e) {
                e.printStackTrace();
                Runtime.getRuntime().halt(1);
                throw new IllegalStateException(e);
            }
        }

        private long work() throws SQLException {
            long sum = 0;
            for (int id = 0; id < rows; id++) {
                insert.setInt(1, id);
                insert.setString(2, "owner");
                insert.setInt(3, id % 100);
                insert.executeUpdate();
            }
            for (int id = 0; id < rows; id++) {
                update.setInt(1, 7);
                update.setInt(2, id);
                update.executeUpdate();
                find.setInt(1, id);
                try (ResultSet found = find.executeQuery()) {
                    found.next();
                    sum += found.getString(1).length() + found.getInt(2);
                }
            }
            clear.executeUpdate();
            return sum;
        }
    }

    private static double median(double[] values) {
        Arrays.sort(values);
        return values[values.length / 2];
    }

    public static void main(String[] args) throws Exception {
        Client[] clients = new Client[Integer.parseInt(args[1])];
        for (int i = 0; i < clients.length; i++) {
            clients[i] = new Client(args[0], i, Integer.parseInt(args[2]));
        }
        int rounds = Integer.parseInt(args[3]);
        int warm = rounds / 3;
        double[] ns = new double[rounds - warm];
        long cpu = 0;
        long sum = 0;
        OperatingSystemMXBean os =
                (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        ExecutorService pool = Executors.newFixedThreadPool(clients.length);
        for (int r = 0; r < rounds; r++) {
            long cpuBefore = os.getProcessCpuTime();
            long began = System.nanoTime();
            for (Future<Long> part : pool.invokeAll(Arrays.asList(clients))) {
                sum += part.get();
            }
            if (r >= warm) {
                ns[r - warm] = System.nanoTime() - began;
                cpu += os.getProcessCpuTime() - cpuBefore;
            }
        }
        pool.shutdown();
        System.out.printf("round_ms %.2f cpu_ms %.2f rounds %d sum %d%n", median(ns) / 1e6,
                cpu / 1e6 / (rounds - warm), rounds, sum);
    }
}
