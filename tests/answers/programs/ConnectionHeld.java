package shop;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import common.Case;
import common.Web;
import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.URI;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import javax.sql.DataSource;

/** A shop: an order is written to the database and paid at another server, while its connection is held (or before). */
public class ConnectionHeld {
    public static void main(String[] args) throws Exception {
        Case it = Case.of(args);
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl("jdbc:h2:mem:shop;DB_CLOSE_DELAY=-1");
        config.setMaximumPoolSize(3);
        config.setConnectionTimeout(30_000);
        DataSource database = new HikariDataSource(config);
        try (Connection c = database.getConnection(); Statement s = c.createStatement()) {
            s.execute("create table orders(id bigint primary key, customer varchar(40), cents int, state varchar(10))");
        }
        OrderService orders = new OrderService(database, new PaymentClient(it.peer()), it.planted());
        PriceList prices = new PriceList();
        new Web(it.folder())
                .on("/order", q -> "order " + orders.place(q.getParameter("customer"), 4200))
                .on("/price", q -> "price " + prices.of(q.getParameter("article")))
                .start();
    }
}

class OrderService {
    private final DataSource database;
    private final PaymentClient payments;
    private final boolean oneTransaction;
    private final AtomicLong ids = new AtomicLong();

    OrderService(DataSource database, PaymentClient payments, boolean oneTransaction) {
        this.database = database;
        this.payments = payments;
        this.oneTransaction = oneTransaction;
    }

    long place(String customer, int cents) throws SQLException, IOException {
        return oneTransaction ? placeAndPay(customer, cents) : payAndPlace(customer, cents);
    }

    private long placeAndPay(String customer, int cents) throws SQLException, IOException {
        try (Connection connection = database.getConnection()) { // waiter
            connection.setAutoCommit(false);
            long id = insert(connection, customer, cents, "new");
            String receipt = payments.pay(id, cents);
            update(connection, id, receipt);
            connection.commit();
            connection.setAutoCommit(true);
            return id;
        }
    }

    private long payAndPlace(String customer, int cents) throws SQLException, IOException {
        long id = ids.incrementAndGet();
        String receipt = payments.pay(id, cents);
        try (Connection connection = database.getConnection()) {
            insert(connection, customer, cents, receipt);
            return id;
        }
    }

    private long insert(Connection connection, String customer, int cents, String state) throws SQLException {
        long id = ids.incrementAndGet();
        try (PreparedStatement s = connection.prepareStatement("insert into orders values (?, ?, ?, ?)")) {
            s.setLong(1, id);
            s.setString(2, customer);
            s.setInt(3, cents);
            s.setString(4, state);
            s.executeUpdate();
        }
        return id;
    }

    private void update(Connection connection, long id, String receipt) throws SQLException {
        try (PreparedStatement s = connection.prepareStatement("update orders set state = ? where id = ?")) {
            s.setString(1, receipt);
            s.setLong(2, id);
            s.executeUpdate();
        }
        try (PreparedStatement s = connection.prepareStatement("select cents from orders where id = ?")) {
            s.setLong(1, id);
            try (ResultSet r = s.executeQuery()) {
                r.next();
            }
        }
    }
}

class PaymentClient {
    private final int port;

    PaymentClient(int port) {
        this.port = port;
    }

    String pay(long order, int cents) throws IOException {
        var url = URI.create("http://127.0.0.1:" + port + "/?ms=100&order=" + order + "&cents=" + cents).toURL();
        HttpURLConnection connection = (HttpURLConnection) url.openConnection();
        connection.setReadTimeout(10_000);
        if (connection.getResponseCode() != 200) throw new IOException("not paid: order " + order); // holder
        try (var body = connection.getInputStream()) {
            return new String(body.readAllBytes()).strip();
        }
    }
}

/** A lock that many want, each for a moment: no harm. */
class PriceList {
    private final Map<String, Integer> asked = new LinkedHashMap<>();

    synchronized int of(String article) {
        int price = 0;
        for (int i = 0; i < 20_000; i++) price = price * 31 + article.charAt(i % article.length());
        asked.merge(article, 1, Integer::sum);
        return price & 0xffff;
    }
}
