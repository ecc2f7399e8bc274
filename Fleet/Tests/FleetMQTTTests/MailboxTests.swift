// SPDX-License-Identifier: Apache-2.0
import FleetMQTT
import Testing

@Suite("Values for one task", .timeLimit(.minutes(1)))
struct MailboxTests {
    @Test("Mailbox: waiting values are received together and in order, before the end")
    func order() async {
        let mailbox = Mailbox<Int>()
        for value in 1...3 { #expect(mailbox.send(value)) }
        mailbox.close()
        // Whoever has sent it must not wait for an answer.
        #expect(!mailbox.send(4))
        #expect(await mailbox.next() == [1, 2, 3])
        #expect(await mailbox.next() == nil)
        #expect(await mailbox.next() == nil)
    }

    @Test("Task that waits at a mailbox: gets the next value, or the end", arguments: [true, false])
    func waiting(comes: Bool) async {
        let loop = EventLoop("test")
        let mailbox = Mailbox<Int>()
        let task = LoopActor(loop).begin { _ in await mailbox.next() }
        // After this the task waits: it was begun before, and whatever it does until then is one job.
        await untilDone(loop)
        if comes { mailbox.send(1) } else { mailbox.close() }
        #expect(await task.value == (comes ? [1] : nil))
        loop.close()
    }

    @Test("Mailbox with four senders: each value once, in the order of its sender")
    func many() async {
        let mailbox = Mailbox<Int>()
        let loop = EventLoop("test")
        let task = LoopActor(loop).begin { _ in
            var all: [Int] = []
            while let values = await mailbox.next() { all += values }
            return all
        }
        await withTaskGroup(of: Void.self) { group in
            for sender in 0..<4 {
                group.addTask { for value in 0..<500 { mailbox.send(sender * 1000 + value) } }
            }
        }
        mailbox.close()
        let all = await task.value
        for sender in 0..<4 {
            #expect(all.filter { $0 / 1000 == sender } == (0..<500).map { sender * 1000 + $0 })
        }
        loop.close()
    }

    @Test("Task on an event loop that waits at a mailbox: continues on the loop as soon as a value is sent")
    func place() async {
        let loop = EventLoop("test")
        let mailbox = Mailbox<Int>()
        let notes = Notes()
        let task = LoopActor(loop).begin { _ in
            let values = await mailbox.next()
            notes.add(loop.isCurrent ? 1 : -1)
            return values
        }
        await untilDone(loop)
        await withCheckedContinuation { continuation in
            loop.async {
                mailbox.send(7)
                // Comes after the task, which takes one job.
                loop.async {
                    notes.add(2)
                    continuation.resume()
                }
            }
        }
        #expect(await task.value == [7])
        #expect(notes.all == [1, 2])
        loop.close()
    }

    /// Waits until a loop has done what was added before.
    private func untilDone(_ loop: EventLoop) async {
        await withCheckedContinuation { continuation in loop.async { continuation.resume() } }
    }
}
