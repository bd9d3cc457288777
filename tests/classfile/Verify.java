import java.io.*;
import java.lang.classfile.ClassFile;
import java.util.*;

/**
 * Verify ORIGINAL EDITED (JDK 24 or newer): every class of two streams with the verifier of the ClassFile API, without
 * loading it.  An edited class may have no error that the original has not.  Prints "verified N changed N bad N".
 */
public class Verify {
    static DataInputStream open(String file) throws IOException {
        return new DataInputStream(new BufferedInputStream(new FileInputStream(file), 1 << 20));
    }

    static List<VerifyError> errors(byte[] bytes) {
        try {
            return ClassFile.of().verify(bytes);
        } catch (RuntimeException e) {
            return List.of(new VerifyError(String.valueOf(e)));
        }
    }

    public static void main(String[] a) throws Exception {
        int n = 0, changed = 0, bad = 0, same = 0;
        try (DataInputStream x = open(a[0]); DataInputStream y = open(a[1])) {
            for (; x.available() > 0; n++) {
                String name = x.readUTF();
                byte[] original = x.readNBytes(x.readInt());
                if (!y.readUTF().equals(name))
                    throw new IOException("the streams differ at " + name);
                byte[] edited = y.readNBytes(y.readInt());
                if (Arrays.equals(original, edited))
                    continue;
                changed++;
                List<VerifyError> now = errors(edited);
                if (now.isEmpty())
                    continue;
                if (errors(original).size() >= now.size()) {
                    same++;
                    continue;
                }
                bad++;
                System.out.println("# " + name + ": " + String.valueOf(now.get(0).getMessage()).split("\n")[0]);
            }
        }
        System.out.println("verified " + n + " changed " + changed + " unverifiable-before-too " + same + " bad " + bad);
        System.exit(bad == 0 ? 0 : 1);
    }
}
