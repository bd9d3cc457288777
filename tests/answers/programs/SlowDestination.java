package orders;

import common.Case;
import common.Web;
import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.URI;
import javax.jms.Connection;
import javax.jms.DeliveryMode;
import javax.jms.JMSException;
import javax.jms.Message;
import javax.jms.MessageListener;
import javax.jms.MessageProducer;
import javax.jms.Session;
import org.apache.activemq.ActiveMQConnectionFactory;
import org.apache.activemq.broker.BrokerService;
import org.apache.activemq.broker.region.policy.PolicyEntry;
import org.apache.activemq.broker.region.policy.PolicyMap;

/** Orders that a broker keeps until somebody has shipped them: one consumer asks another server for each (or twenty do). */
public class SlowDestination {
    public static void main(String[] args) throws Exception {
        Case it = Case.of(args);
        BrokerService broker = new BrokerService();
        broker.setBrokerName("orders");
        broker.setPersistent(false);
        broker.setUseJmx(false);
        broker.setDataDirectory(it.folder());
        PolicyEntry policy = new PolicyEntry();
        policy.setMemoryLimit(200_000);
        policy.setProducerFlowControl(true);
        PolicyMap policies = new PolicyMap();
        policies.setDefaultEntry(policy);
        broker.setDestinationPolicy(policies);
        broker.start();
        ActiveMQConnectionFactory factory =
                new ActiveMQConnectionFactory("vm://orders?create=false&jms.prefetchPolicy.queuePrefetch=1&jms.alwaysSyncSend=true");
        int consumers = it.planted() ? 1 : 20;
        for (int i = 0; i < consumers; i++) new Shipping(factory, it.peer());
        Desk desk = new Desk(factory);
        Offers offers = new Offers();
        new Web(it.folder())
                .on("/order", q -> desk.accept(q.getParameter("article")))
                .on("/offer", q -> "offer " + offers.of(q.getParameter("article")))
                .start();
    }
}

class Desk {
    private final ActiveMQConnectionFactory factory;
    private final String form = "<line/>".repeat(600);
    private final ThreadLocal<Session> sessions = ThreadLocal.withInitial(this::open);

    Desk(ActiveMQConnectionFactory factory) {
        this.factory = factory;
    }

    String accept(String article) throws JMSException {
        Session session = sessions.get();
        MessageProducer producer = session.createProducer(session.createQueue("shipping"));
        try {
            producer.setDeliveryMode(DeliveryMode.NON_PERSISTENT);
            producer.send(session.createTextMessage(article + form)); // waiter
        } finally {
            producer.close();
        }
        return "accepted";
    }

    private Session open() {
        try {
            Connection connection = factory.createConnection();
            connection.start();
            return connection.createSession(false, Session.AUTO_ACKNOWLEDGE);
        } catch (JMSException e) {
            throw new IllegalStateException(e);
        }
    }
}

class Shipping implements MessageListener {
    private final int port;

    Shipping(ActiveMQConnectionFactory factory, int port) throws JMSException {
        this.port = port;
        Connection connection = factory.createConnection();
        Session session = connection.createSession(false, Session.AUTO_ACKNOWLEDGE);
        session.createConsumer(session.createQueue("shipping")).setMessageListener(this);
        connection.start();
    }

    @Override
    public void onMessage(Message message) {
        try {
            var url = URI.create("http://127.0.0.1:" + port + "/?ms=25").toURL();
            HttpURLConnection connection = (HttpURLConnection) url.openConnection();
            if (connection.getResponseCode() != 200) throw new IOException("not shipped"); // holder
            connection.getInputStream().readAllBytes();
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }
}

/** A lock that many want, each for a moment: no harm. */
class Offers {
    private int last;

    synchronized int of(String article) {
        for (int i = 0; i < 20_000; i++) last = last * 31 + article.charAt(i % article.length());
        return last & 0xff;
    }
}
