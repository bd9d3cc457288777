import java.util.Random;
import java.util.zip.Deflater;

/** THREADS threads pack bytes, in a native method, for MS milliseconds. */
public class Packers {
    static void pack(long until) {
        byte[] bytes = new byte[1 << 20], packed = new byte[1 << 20];
        new Random(1).nextBytes(bytes);
        for (int i = 0; i < bytes.length; i++)
            bytes[i] &= 15;
        while (System.nanoTime() < until) {
            Deflater d = new Deflater(9);
            d.setInput(bytes);
            d.deflate(packed);
            d.end();
        }
    }

    public static void main(String[] args) throws Exception {
        long until = System.nanoTime() + Long.parseLong(args[1]) * 1_000_000;
        Thread[] all = new Thread[Integer.parseInt(args[0])];
        for (int i = 0; i < all.length; i++) {
            all[i] = new Thread(() -> pack(until), "packer-" + i);
            all[i].start();
        }
        for (Thread t : all)
            t.join();
    }
}
