// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Foundation
import PCSCDriver
import TagLink
import Testing

/// Checks what the observers of readers are called for.
@Suite(.timeLimit(.minutes(1)))
struct ReaderObserverTests {
    private static let card = ScriptedService.Card(answerToReset: SampleCards.cardAnswer) { _ in [] }

    @Test("A card that another program opens is no news, and its leaving is")
    func opened() async throws {
        let service = ScriptedService([ScriptedService.Reader(name: "NFC reader", card: Self.card)])
        let reader = PCSCReader(.first, layer: service)
        let (changes, mark) = AsyncStream.makeStream(of: Bool.self)
        let observation = reader.observePresence { mark.yield(service.look { $0.readers[0].card == nil }) }
        var iterator = changes.makeAsyncIterator()
        while service.look(\.looks) < 2 { await Task.yield() }
        service.change { $0.readers[0].isInUse = true }
        // The monitor has seen that, and waits again.
        while service.look(\.looks) < 3 { await Task.yield() }
        service.change { $0.readers[0].card = nil }
        #expect(await iterator.next() == true)
        withExtendedLifetime(observation) {}
    }

    @Test("A card that stops answering to the service is news, though it is still there")
    func muted() async throws {
        let service = ScriptedService([ScriptedService.Reader(name: "NFC reader", card: Self.card)])
        let reader = PCSCReader(.first, layer: service)
        let (changes, mark) = AsyncStream.makeStream(of: Bool.self)
        let observation = reader.observePresence { mark.yield(service.look { $0.readers[0].isMute }) }
        var iterator = changes.makeAsyncIterator()
        while service.look(\.looks) < 2 { await Task.yield() }
        service.change { $0.readers[0].isMute = true }
        #expect(await iterator.next() == true)
        withExtendedLifetime(observation) {}
    }

    @Test("A reader that goes is news, and so is one that goes between its name and its state")
    func goes() async throws {
        let service = ScriptedService([
            ScriptedService.Reader(name: "NFC reader"), ScriptedService.Reader(name: "Another NFC reader"),
        ])
        let reader = PCSCReader(.first, layer: service)
        let told = Locked(0)
        let observation = reader.observePresence { told.withLock { $0 += 1 } }
        while service.look(\.looks) < 2 { await Task.yield() }
        let contexts = service.look(\.contexts)
        service.change { $0.readers.removeFirst() }
        // The monitor has seen that, and waits again.
        while service.look(\.looks) < 3 { await Task.yield() }
        let before = told.withLock { $0 }
        #expect(before > 0)
        service.change { state in
            state.readers[0].events += 2
            state.lookFailures = [.unknownReader]
        }
        // The look that fails, another one at once, and one that waits.
        while service.look(\.looks) < 6 { await Task.yield() }
        // The card is news, and whatever the failure was about.
        #expect(told.withLock { $0 } >= before + 2)
        #expect(service.look(\.contexts) == contexts && contexts.count == 1)
        #expect(service.look { $0.abandoned.isEmpty && $0.serviceWaits.isEmpty })
        withExtendedLifetime(observation) {}
    }

    @Test("An observer that holds the last reference to another one ends with it")
    func nested() async throws {
        let service = ScriptedService([ScriptedService.Reader(name: "NFC reader")])
        let reader = PCSCReader(.first, layer: service)
        var inner = reader.observePresence {}
        var outer = reader.observePresence { [inner] in withExtendedLifetime(inner) {} }
        #expect(inner != nil && outer != nil)
        while service.look(\.looks) < 2 { await Task.yield() }
        inner = nil
        outer = nil
        // The thread of the observers has ended.
        while service.look({ !$0.contexts.isEmpty }) { await Task.yield() }
    }

    @Test("The thread of an observer that has gone calls none that came since, and ends")
    func late() async throws {
        let service = ScriptedService([ScriptedService.Reader(name: "NFC reader")])
        let reader = PCSCReader(.first, layer: service)
        let gate = DispatchSemaphore(value: 0)
        let thread = Locked<String?>(nil)
        var first = reader.observePresence {
            thread.withLock { $0 = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/thread-self") }
            gate.wait()
        }
        #expect(first != nil)
        while service.look(\.looks) < 2 { await Task.yield() }
        service.change { $0.readers[0].events += 2 }
        while thread.withLock({ $0 }) == nil { await Task.yield() }
        first = nil
        let calls = Locked(0)
        let second = reader.observePresence { calls.withLock { $0 += 1 } }
        gate.signal()
        let path = "/proc/" + (thread.withLock { $0 } ?? "")
        while FileManager.default.fileExists(atPath: path), calls.withLock({ $0 }) == 0 { await Task.yield() }
        #expect(calls.withLock { $0 } == 0)
        withExtendedLifetime(second) {}
    }

    @Test("Each of two observers is called, and one goes on being called when the other has gone")
    func two() async throws {
        let service = ScriptedService([ScriptedService.Reader(name: "NFC reader")])
        let reader = PCSCReader(.first, layer: service)
        let (news, mark) = AsyncStream.makeStream(of: Int.self)
        let first = reader.observePresence { mark.yield(1) }
        var second = reader.observePresence { mark.yield(2) }
        #expect(first != nil && second != nil)
        while service.look(\.looks) < 2 { await Task.yield() }
        var heard = news.makeAsyncIterator()
        service.change { $0.readers[0].events += 2 }
        let both = [try #require(await heard.next()), try #require(await heard.next())]
        #expect(both.sorted() == [1, 2])
        second = nil
        service.change { $0.readers[0].events += 2 }
        #expect(await heard.next() == 1)
        withExtendedLifetime(first) {}
    }
}
