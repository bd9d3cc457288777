import java.util.*;

/**
 * Objects that a program keeps by accident: listeners in a list that a static has by a bus, Listeners.EventBus. The thread
 * "pump" has the list as a local of Listeners.Pump.run for ever, a shorter way to it. Prints "ready" when 20,000 listeners of
 * more than 1,000 bytes are in it, and waits for input.
 */
public final class Listeners {
    static final int LISTENERS = 20000;

    static final class EventBus {
        static EventBus bus = new EventBus();
        final List<Leak> subscribers = new ArrayList<>();
    }

    static final class Leak {
        final byte[] data = new byte[1000];
    }

    static final class Pump extends Thread {
        volatile int got;

        Pump() {
            super("pump");
            setDaemon(true);
        }

        @Override
        public void run() {
            List<Leak> mine = EventBus.bus.subscribers;
            for (int i = 0; i < LISTENERS; i++)
                mine.add(new Leak());
            synchronized (this) {
                got = mine.size();
                notifyAll();
                while (got > 0)
                    try {
                        wait();
                    } catch (InterruptedException e) {
                        got = -mine.size();
                    }
            }
        }
    }

    public static void main(String[] args) throws Exception {
        Pump pump = new Pump();
        pump.start();
        synchronized (pump) {
            while (pump.got == 0)
                pump.wait();
        }
        System.out.println("ready");
        System.in.read();
    }
}
