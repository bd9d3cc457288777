import java.io.StringReader;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.zip.CRC32;
import javax.xml.transform.Templates;
import javax.xml.transform.TransformerFactory;
import javax.xml.transform.stream.StreamResult;
import javax.xml.transform.stream.StreamSource;

/**
 * Xalan: one compiled stylesheet, eight threads that transform documents in step (a barrier);
 * prints the sum of the results.
 */
public class Transform {
    static final String SHEET = "<xsl:stylesheet version='1.0' "
        + "xmlns:xsl='http://www.w3.org/1999/XSL/Transform'>"
        + "<xsl:output method='html'/><xsl:key name='k' match='row' use='@g'/>"
        + "<xsl:template match='/'><table><xsl:for-each select='//row'>"
        + "<xsl:sort select='@n' data-type='number' order='descending'/>"
        + "<tr><td><xsl:value-of select='@n'/></td>"
        + "<td><xsl:value-of select='count(key(\"k\", @g))'/></td></tr>"
        + "</xsl:for-each></table></xsl:template></xsl:stylesheet>";

    static String document(int seed) {
        StringBuilder b = new StringBuilder("<rows>");
        for (int i = 0; i < 200; i++)
            b.append("<row n='" + (i * 7919 + seed * 31) % 1009 + "' g='" + i % 7 + "'/>");
        return b.append("</rows>").toString();
    }

    public static void main(String[] args) throws Exception {
        int rounds = Integer.parseInt(args[0]), threads = 8;
        TransformerFactory factory = TransformerFactory.newInstance();
        System.out.println(factory.getClass().getName());
        Templates sheet = factory.newTemplates(new StreamSource(new StringReader(SHEET)));
        CyclicBarrier barrier = new CyclicBarrier(threads);
        ExecutorService pool = Executors.newFixedThreadPool(threads);
        List<Future<Long>> sums = new ArrayList<>();
        for (int t = 0; t < threads; t++) {
            int me = t;
            sums.add(pool.submit((Callable<Long>) () -> {
                CRC32 crc = new CRC32();
                for (int i = 0; i < rounds; i++) {
                    StringWriter out = new StringWriter();
                    StringReader in = new StringReader(document(me * 1000 + i));
                    sheet.newTransformer().transform(new StreamSource(in), new StreamResult(out));
                    crc.update(out.toString().getBytes("UTF-8"));
                    barrier.await();
                }
                return crc.getValue();
            }));
        }
        long sum = 0;
        for (Future<Long> f : sums)
            sum = sum * 31 + f.get();
        pool.shutdown();
        System.out.println("sum " + sum);
    }
}
