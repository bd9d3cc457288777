package rates;

import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.LoadingCache;
import common.Case;
import common.Web;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.HttpURLConnection;
import java.net.URI;
import java.time.Duration;
import java.util.TreeMap;

/** Rates of another server in a cache: each request waits for the one that loads an entry that is too old (or gets the old one until then). */
public class HotKey {
    public static void main(String[] args) throws Exception {
        Case it = Case.of(args);
        RateLoader loader = new RateLoader(it.peer(), it.strength(250, 100));
        Caffeine<Object, Object> builder = Caffeine.newBuilder().maximumSize(1_000);
        if (it.planted()) {
            builder.expireAfterWrite(Duration.ofMillis(100));
        } else {
            builder.refreshAfterWrite(Duration.ofMillis(100));
        }
        LoadingCache<String, String> rates = builder.build(loader::load);
        rates.get("NOK");
        Countries countries = new Countries();
        new Web(it.folder())
                .on("/rate", q -> rates.get(q.getParameter("currency")))
                .on("/country", q -> countries.of(q.getParameter("currency")))
                .start();
    }
}

class RateLoader {
    private final int port;
    private final int ms;

    RateLoader(int port, int ms) {
        this.port = port;
        this.ms = ms;
    }

    String load(String currency) {
        try {
            var url = URI.create("http://127.0.0.1:" + port + "/?ms=" + ms + "&currency=" + currency).toURL();
            HttpURLConnection connection = (HttpURLConnection) url.openConnection();
            connection.setReadTimeout(10_000);
            if (connection.getResponseCode() != 200) throw new IOException("no rate of " + currency); // holder
            try (var body = connection.getInputStream()) {
                return currency + " " + new String(body.readAllBytes()).strip();
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}

/** A lock that many want, each for a moment: no harm. */
class Countries {
    private final TreeMap<String, Integer> asked = new TreeMap<>();

    synchronized String of(String currency) {
        int hash = 7;
        for (int i = 0; i < 20_000; i++) hash = hash * 31 + currency.charAt(i % currency.length());
        return currency + asked.merge(currency, hash, Integer::sum);
    }
}
