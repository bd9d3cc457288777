// GPars: actors, dataflow and parallel collections, with results that do not depend on timing.
import groovyx.gpars.GParsPool
import groovyx.gpars.actor.Actors
import groovyx.gpars.dataflow.DataflowQueue
import groovyx.gpars.dataflow.Dataflows

import static groovyx.gpars.dataflow.Dataflow.task

int n = args[0] as int

def counter = Actors.actor {
    long sum = 0
    loop {
        react { m ->
            if (m == 'stop') {
                reply sum
                terminate()
            } else {
                sum += m
            }
        }
    }
}
def senders = (0..<8).collect { t -> Thread.start { (1..n).each { counter << it } } }
senders*.join()
println "actor ${counter.sendAndWait('stop')}"

def flow = new Dataflows()
(1..100).each { i -> task { flow["v$i"] = flow["v${i - 1}"] + i } }
task { flow.v0 = 0 }
println "dataflow ${flow.v100}"

def queue = new DataflowQueue()
task { (1..n).each { queue << it } }
long total = 0
n.times { total += queue.val }
println "queue $total"

GParsPool.withPool(4) {
    println "pool ${(1..n).collectParallel { it * 2 }.sumParallel()}"
}
System.exit(3)
