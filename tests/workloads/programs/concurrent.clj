;; What Clojure offers for concurrency, each with a result that does not depend on timing.
(def n (Integer/parseInt (first *command-line-args*)))

;; Software transactional memory: 8 futures move money between 10 refs.
(def accounts (vec (repeatedly 10 #(ref 1000))))
(defn transfer [a b amount]
  (dosync (alter (accounts a) - amount) (alter (accounts b) + amount)))
(def movers
  (doall (for [t (range 8)]
           (future (dotimes [i n] (transfer (mod (+ t i) 10) (mod (+ t (* 3 i) 1) 10) 1))))))
(run! deref movers)
(println "refs" (reduce + (map deref accounts)))

;; Agents: both thread pools.
(def a (agent 0))
(dotimes [i n] (if (even? i) (send a + i) (send-off a + i)))
(await a)
(println "agent" @a)

;; pmap over a lazy sequence.
(defn prime? [k] (not-any? #(zero? (mod k %)) (range 2 (inc (int (Math/sqrt k))))))
(defn primes-from [k] (count (filter prime? (range k (+ k 100)))))
(println "pmap" (reduce + (pmap primes-from (range 1000 (+ 1000 (* 5 n)) 100))))

;; Promises in a ring, one thread each.
(def ring (vec (repeatedly 200 promise)))
(doseq [i (range 1 200)] (future (deliver (ring i) (inc @(ring (dec i))))))
(deliver (ring 0) 0)
(println "promises" @(ring 199))

;; Monitors, and a time-out that must happen.
(def lock (Object.))
(def sum (atom 0))
(def lockers
  (doall (for [_ (range 4)] (future (dotimes [_ n] (locking lock (reset! sum (inc @sum))))))))
(run! deref lockers)
(println "locking" @sum)
(println "timeout" (deref (promise) 20 :late))
(shutdown-agents)
