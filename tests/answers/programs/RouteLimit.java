package weather;

import common.Case;
import common.Web;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Deque;
import org.apache.hc.client5.http.classic.methods.HttpGet;
import org.apache.hc.client5.http.impl.classic.CloseableHttpClient;
import org.apache.hc.client5.http.impl.classic.HttpClients;
import org.apache.hc.client5.http.impl.io.PoolingHttpClientConnectionManagerBuilder;
import org.apache.hc.core5.http.io.entity.EntityUtils;

/** Forecasts of another server, asked with an HTTP client that keeps two connections for it (or fifty). */
public class RouteLimit {
    public static void main(String[] args) throws Exception {
        Case it = Case.of(args);
        int connections = it.planted() ? 2 : 50;
        var manager = PoolingHttpClientConnectionManagerBuilder.create()
                .setMaxConnPerRoute(connections)
                .setMaxConnTotal(connections * 2)
                .build();
        CloseableHttpClient client = HttpClients.custom().setConnectionManager(manager).build();
        ForecastService forecasts = new ForecastService(client, it.peer());
        History history = new History();
        new Web(it.folder())
                .on("/forecast", q -> forecasts.of(q.getParameter("city")))
                .on("/history", q -> "asked " + history.add(q.getParameter("city")))
                .start();
    }
}

class ForecastService {
    private final CloseableHttpClient client;
    private final int port;

    ForecastService(CloseableHttpClient client, int port) {
        this.client = client;
        this.port = port;
    }

    String of(String city) throws IOException {
        HttpGet request = new HttpGet("http://127.0.0.1:" + port + "/?ms=80&city=" + city);
        return client.execute(request, response -> { // holder
            if (response.getCode() != 200) throw new IOException("no forecast of " + city);
            return "sunny in " + city + EntityUtils.toString(response.getEntity()).strip();
        });
    }
}

/** A lock that many want, each for a moment: no harm. */
class History {
    private final Deque<String> cities = new ArrayDeque<>();

    synchronized int add(String city) {
        int hash = 7;
        for (int i = 0; i < 20_000; i++) hash = hash * 31 + city.charAt(i % city.length());
        cities.add(city + hash);
        if (cities.size() > 100) cities.remove();
        return cities.size();
    }
}
