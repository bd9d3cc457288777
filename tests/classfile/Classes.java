import java.io.*;
import java.net.URI;
import java.nio.file.*;
import java.util.*;
import java.util.zip.*;

/**
 * Classes as a stream, for the tool `edit`: per class the length of its name (2 bytes), name, length (4 bytes), bytes.
 *
 *   pack SOURCE...    jars, folders, or jrt:/modules[/MODULE[/FOLDER...]] to a stream on stdout
 *   jar FILE          a stream on stdin to a jar
 */
public class Classes {
    static void put(DataOutputStream out, String name, byte[] bytes) throws IOException {
        out.writeUTF(name);
        out.writeInt(bytes.length);
        out.write(bytes);
    }

    static void packTree(DataOutputStream out, Path root, Path base) throws IOException {
        List<Path> files = new ArrayList<>();
        try (var walk = Files.walk(root)) {
            walk.filter(p -> p.toString().endsWith(".class")).forEach(files::add);
        }
        for (Path p : files)
            put(out, base.relativize(p).toString(), Files.readAllBytes(p));
    }

    static void packJar(DataOutputStream out, String jar) throws IOException {
        try (ZipFile zip = new ZipFile(jar)) {
            for (ZipEntry e : Collections.list(zip.entries()))
                if (e.getName().endsWith(".class"))
                    put(out, e.getName(), zip.getInputStream(e).readAllBytes());
        }
    }

    static void unpack(DataInputStream in, String jar) throws IOException {
        Set<String> seen = new HashSet<>();
        try (ZipOutputStream zip = new ZipOutputStream(new BufferedOutputStream(new FileOutputStream(jar)))) {
            zip.setLevel(Deflater.NO_COMPRESSION);
            while (in.available() > 0 || peek(in)) {
                String name = in.readUTF();
                byte[] bytes = in.readNBytes(in.readInt());
                if (!seen.add(name))
                    continue;
                zip.putNextEntry(new ZipEntry(name));
                zip.write(bytes);
            }
        }
    }

    static boolean peek(DataInputStream in) throws IOException {
        in.mark(1);
        int b = in.read();
        in.reset();
        return b >= 0;
    }

    public static void main(String[] a) throws Exception {
        if (a[0].equals("jar")) {
            unpack(new DataInputStream(new BufferedInputStream(System.in, 1 << 16)), a[1]);
            return;
        }
        DataOutputStream out = new DataOutputStream(new BufferedOutputStream(new FileOutputStream(FileDescriptor.out), 1 << 16));
        for (int i = 1; i < a.length; i++) {
            if (a[i].startsWith("jrt:")) {
                Path root = FileSystems.getFileSystem(URI.create("jrt:/")).getPath(a[i].substring(4));
                packTree(out, root, root.getRoot().resolve("modules"));
            } else if (Files.isDirectory(Path.of(a[i]))) {
                packTree(out, Path.of(a[i]), Path.of(a[i]));
            } else {
                packJar(out, a[i]);
            }
        }
        out.flush();
    }
}
