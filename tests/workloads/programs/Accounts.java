import com.sun.management.ThreadMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.zip.CRC32;

/**
 * A database over JDBC, with four clients: java -cp ...:h2.jar Accounts URL TRANSACTIONS BYTES_FILE.
 *
 * <p>Each client makes TRANSACTIONS transactions in its own rows of two tables that all share: inserts,
 * transfers, look-ups, deletes, texts, roll-backs, and an aggregate over a join now and then. What a
 * client does depends on its number alone, so that the sums of all that was read, and of the tables at
 * the end, are the same each time; they are printed. What the JVM says that the threads named client-N
 * allocated, in bytes, goes to BYTES_FILE.
 */
public final class Accounts {
    private static final int CLIENTS = 4;
    private static final int ROWS = 200;

    /** One client, with rows of its own: CLIENTS * i + its number. */
    private static final class Client implements Callable<Long> {
        private final Connection db;
        private final Random random;
        private final int number;
        private final int transactions;
        private final CRC32 sum = new CRC32();

        Client(String url, int number, int transactions) throws SQLException {
            this.db = DriverManager.getConnection(url);
            this.random = new Random(number);
            this.number = number;
            this.transactions = transactions;
            db.setAutoCommit(false);
        }

        private int row() {
            return CLIENTS * random.nextInt(ROWS) + number;
        }

        private void execute(String sql, Object... values) throws SQLException {
            try (PreparedStatement s = db.prepareStatement(sql)) {
                for (int i = 0; i < values.length; i++)
                    s.setObject(i + 1, values[i]);
                s.executeUpdate();
            }
        }

        private void read(String sql, Object... values) throws SQLException {
            try (PreparedStatement s = db.prepareStatement(sql)) {
                for (int i = 0; i < values.length; i++)
                    s.setObject(i + 1, values[i]);
                try (ResultSet found = s.executeQuery()) {
                    add(sum, found);
                }
            }
        }

        private void transaction(int turn) throws SQLException {
            int from = row(), to = row(), amount = random.nextInt(100);
            execute("update account set amount = amount - ? where id = ?", amount, from);
            execute("update account set amount = amount + ? where id = ?", amount, to);
            execute("insert into entry values (?, ?, ?, ?)", turn * CLIENTS + number, from, amount,
                    "from " + from + " to " + to);
            read("select owner, amount from account where id in (?, ?) order by id", from, to);
            if (turn % 7 == 0) {
                db.rollback();
                return;
            }
            if (turn % 11 == 0)
                execute("delete from entry where account = ? and amount < ?", from, 50);
            if (turn % 23 == 0)
                read("select a.owner, count(*), sum(e.amount), max(e.what) from account a, entry e"
                        + " where e.account = a.id and a.client = ? group by a.owner"
                        + " order by a.owner", number);
            db.commit();
        }

        @Override
        public Long call() throws SQLException {
            for (int i = 0; i < ROWS; i++)
                execute("insert into account values (?, ?, ?, ?)", CLIENTS * i + number, number,
                        "owner " + i, 1000);
            db.commit();
            for (int turn = 0; turn < transactions; turn++)
                transaction(turn);
            db.close();
            return sum.getValue();
        }
    }

    private static void add(CRC32 sum, ResultSet rows) throws SQLException {
        int columns = rows.getMetaData().getColumnCount();
        while (rows.next())
            for (int i = 1; i <= columns; i++)
                sum.update(String.valueOf(rows.getObject(i)).getBytes());
    }

    private static void sums(Connection db, String table) throws SQLException {
        CRC32 sum = new CRC32();
        try (Statement s = db.createStatement();
                ResultSet rows = s.executeQuery("select * from " + table + " order by id")) {
            add(sum, rows);
        }
        System.out.println(table + " " + sum.getValue());
    }

    /** While the threads live: of those that have ended, nothing is known. */
    private static void note(Path file) throws IOException {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        List<String> lines = new ArrayList<>();
        for (Thread t : Thread.getAllStackTraces().keySet())
            if (t.getName().startsWith("client-"))
                lines.add(t.getName() + " " + threads.getThreadAllocatedBytes(t.getId()));
        Files.write(file, lines);
    }

    public static void main(String[] args) throws Exception {
        int[] made = {0};
        ExecutorService pool = Executors.newFixedThreadPool(CLIENTS,
                task -> new Thread(task, "client-" + made[0]++));
        try (Connection db = DriverManager.getConnection(args[0])) {
            try (Statement s = db.createStatement()) {
                s.execute("create table account"
                        + " (id int primary key, client int, owner varchar(40), amount int)");
                s.execute("create table entry"
                        + " (id int primary key, account int, amount int, what varchar(200))");
                s.execute("create index of_account on entry (account)");
            }
            List<Future<Long>> sums = new ArrayList<>();
            for (int i = 0; i < CLIENTS; i++)
                sums.add(pool.submit(new Client(args[0], i, Integer.parseInt(args[1]))));
            for (Future<Long> sum : sums)
                System.out.println("client " + sum.get());
            note(Path.of(args[2]));
            sums(db, "account");
            sums(db, "entry");
        } finally {
            pool.shutdown();
        }
    }
}
