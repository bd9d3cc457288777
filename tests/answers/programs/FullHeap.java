package search;

import common.Case;
import common.Web;
import java.util.LinkedHashMap;
import java.util.Map;

/** Answers of a search in a cache that is almost as large as the heap (or a tenth of it). */
public class FullHeap {
    public static void main(String[] args) throws Exception {
        Case it = Case.of(args);
        Answers answers = new Answers(it.planted() ? it.strength(740, 700) : 100);
        answers.fill();
        Suggestions suggestions = new Suggestions();
        new Web(it.folder())
                .on("/search", q -> "found " + answers.find(q.getParameter("words")))
                .on("/suggest", q -> "suggest " + suggestions.of(q.getParameter("words")))
                .start();
    }
}

class Answers {
    private final Map<Integer, byte[][]> cache;
    private final int entries;
    private int asked;

    Answers(int entries) {
        this.entries = entries;
        cache = new LinkedHashMap<>() {
            @Override
            protected boolean removeEldestEntry(Map.Entry<Integer, byte[][]> eldest) {
                return size() > entries;
            }
        };
    }

    void fill() {
        for (int i = 0; i < entries; i++) cache.put(i, page());
    }

    int find(String words) {
        int found = 0;
        for (int i = 0; i < 20; i++) found += page().length + words.length(); // holder
        synchronized (cache) {
            cache.put(entries + asked++, page());
        }
        return found;
    }

    private byte[][] page() {
        byte[][] page = new byte[50][];
        for (int i = 0; i < page.length; i++) page[i] = new byte[1024]; // holder
        return page;
    }
}

/** A lock that many want, each for a moment: no harm. */
class Suggestions {
    private int last;

    synchronized int of(String words) {
        for (int i = 0; i < 20_000; i++) last = last * 31 + words.charAt(i % words.length());
        return last & 0xff;
    }
}
