import java.io.*;
import java.util.*;

/** RunAll STREAM: defines each class of a stream and prints what its `static int run()` gives: "Name result". */
public class RunAll extends ClassLoader {
    RunAll() { super(RunAll.class.getClassLoader()); }

    Class<?> define(String name, byte[] b) { return defineClass(name, b, 0, b.length); }

    public static void main(String[] a) throws Exception {
        RunAll loader = new RunAll();
        Map<String, byte[]> all = new LinkedHashMap<>();
        try (DataInputStream in = new DataInputStream(new BufferedInputStream(new FileInputStream(a[0])))) {
            while (in.available() > 0) {
                String name = in.readUTF();
                all.put(name.substring(0, name.length() - 6), in.readNBytes(in.readInt()));
            }
        }
        for (var e : all.entrySet()) {
            String result;
            try {
                result = String.valueOf(loader.define(e.getKey(), e.getValue()).getMethod("run").invoke(null));
            } catch (Throwable t) {
                Throwable c = t.getCause() != null ? t.getCause() : t;
                result = c.getClass().getSimpleName() + (c instanceof ClassFormatError ? "" : " " + String.valueOf(c.getMessage()).split("\n")[0]);
            }
            System.out.println(e.getKey() + " " + result);
        }
    }
}
