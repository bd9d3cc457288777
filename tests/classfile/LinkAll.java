import java.io.IOException;
import java.util.*;
import java.util.zip.ZipFile;

/**
 * LinkAll JAR: defines and links (so verifies) every class of a jar without initializing it, and prints how many came
 * to which outcome, and each class that was refused.  Run with -Xverify:all.
 */
public class LinkAll extends ClassLoader {
    final Map<String, byte[]> classes = new LinkedHashMap<>();

    LinkAll(String jar) throws IOException {
        super(ClassLoader.getPlatformClassLoader());
        try (ZipFile zip = new ZipFile(jar)) {
            for (var e : Collections.list(zip.entries())) {
                String f = e.getName();
                if (f.endsWith(".class") && !f.startsWith("META-INF/") && !f.endsWith("module-info.class"))
                    classes.putIfAbsent(f.substring(0, f.length() - 6).replace('/', '.'), zip.getInputStream(e).readAllBytes());
            }
        }
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        synchronized (getClassLoadingLock(name)) {
            Class<?> c = findLoadedClass(name);
            byte[] b = c == null ? classes.get(name) : null;
            if (b != null)
                c = defineClass(name, b, 0, b.length);
            return c != null ? c : super.loadClass(name, resolve);
        }
    }

    public static void main(String[] a) throws Exception {
        LinkAll loader = new LinkAll(a[0]);
        Map<String, Integer> outcomes = new TreeMap<>();
        List<String> refused = new ArrayList<>();
        for (String name : loader.classes.keySet()) {
            String outcome = "ok";
            try {
                loader.loadClass(name).getDeclaredConstructors(); // links the class in HotSpot
            } catch (Throwable t) {
                outcome = t.getClass().getSimpleName();
                if (t instanceof VerifyError || t instanceof ClassFormatError)
                    refused.add(name + " " + String.valueOf(t.getMessage()).split("\n")[0]);
            }
            outcomes.merge(outcome, 1, Integer::sum);
        }
        System.out.println("linked " + outcomes);
        refused.forEach(r -> System.out.println("  " + r));
    }
}
