import java.io.File;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import org.netbeans.lib.profiler.heap.Field;
import org.netbeans.lib.profiler.heap.Heap;
import org.netbeans.lib.profiler.heap.HeapFactory;
import org.netbeans.lib.profiler.heap.JavaClass;
import org.netbeans.lib.profiler.heap.ObjectArrayInstance;
import org.netbeans.lib.profiler.heap.PrimitiveArrayInstance;

/**
 * The classes of a heap dump as VisualVM's library reads them: "NetBeansHeap DUMP REFERENCE HEADER" prints a
 * line "ID INSTANCES BYTES NAME" for each class.
 *
 * The library gives fields and lengths; BYTES are what these take in HotSpot, with headers of HEADER and
 * references of REFERENCE bytes, were there no gaps between a class's fields and those of its super class.
 */
public class NetBeansHeap {
    private static final Map<String, Integer> SIZES = Map.of("boolean", 1, "byte", 1, "char", 2, "short", 2,
        "int", 4, "float", 4, "long", 8, "double", 8);
    private static int reference, header;
    private static final Map<Long, Integer> fields = new HashMap<>();

    private static int size(String type) {
        return SIZES.getOrDefault(type, reference);
    }

    private static long aligned(long bytes) {
        return (bytes + 7) / 8 * 8;
    }

    private static int fieldsOf(JavaClass c) {
        if (c == null)
            return 0;
        Integer known = fields.get(c.getJavaClassId());
        if (known != null)
            return known;
        int sum = fieldsOf(c.getSuperClass());
        for (Object f : c.getFields())
            if (!((Field) f).isStatic())
                sum += size(((Field) f).getType().getName());
        fields.put(c.getJavaClassId(), sum);
        return sum;
    }

    private static long arrays(JavaClass c) {
        int element = size(c.getName().substring(0, c.getName().length() - 2));
        long head = element == 8 ? aligned(header + 4) : header + 4, sum = 0;
        for (Iterator<?> i = c.getInstancesIterator(); i.hasNext();) {
            Object a = i.next();
            long n = a instanceof PrimitiveArrayInstance ? ((PrimitiveArrayInstance) a).getLength()
                : ((ObjectArrayInstance) a).getLength();
            sum += aligned(head + n * element);
        }
        return sum;
    }

    public static void main(String[] args) throws Exception {
        Heap heap = HeapFactory.createHeap(new File(args[0]));
        reference = Integer.parseInt(args[1]);
        header = Integer.parseInt(args[2]);
        for (Object o : heap.getAllClasses()) {
            JavaClass c = (JavaClass) o;
            long bytes = c.isArray() ? arrays(c) : c.getInstancesCount() * aligned(header + fieldsOf(c));
            System.out.println(Long.toHexString(c.getJavaClassId()) + " " + c.getInstancesCount() + " " + bytes + " "
                + c.getName());
        }
    }
}
