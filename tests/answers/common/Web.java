package common;

import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.apache.catalina.Context;
import org.apache.catalina.connector.Connector;
import org.apache.catalina.startup.Tomcat;

/** Tomcat, embedded, on a free port of 127.0.0.1: the server of the programs that have one. */
public final class Web {
    public interface Handler {
        String handle(HttpServletRequest request) throws Exception;
    }

    private final Tomcat tomcat = new Tomcat();
    private final Context context;
    private final Logger quiet = Logger.getLogger("org.apache");

    public Web(String folder) {
        quiet.setLevel(Level.WARNING);
        tomcat.setBaseDir(folder);
        Connector connector = new Connector();
        connector.setPort(0);
        connector.setProperty("address", "127.0.0.1");
        connector.setProperty("maxThreads", "100");
        connector.setProperty("maxKeepAliveRequests", "-1");
        tomcat.setConnector(connector);
        context = tomcat.addContext("", null);
    }

    public Web on(String path, Handler handler) {
        Tomcat.addServlet(context, path, new HttpServlet() {
            @Override
            protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
                try {
                    response.getWriter().println(handler.handle(request));
                } catch (IOException e) {
                    throw e;
                } catch (Exception e) {
                    response.sendError(500, e.toString());
                }
            }
        });
        context.addServletMappingDecoded(path, path);
        return this;
    }

    public void start() throws Exception {
        tomcat.start();
        System.out.println("ready " + tomcat.getConnector().getLocalPort());
        tomcat.getServer().await();
    }
}
