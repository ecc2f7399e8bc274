// SPDX-License-Identifier: Apache-2.0
import CSDBus
import Foundation
import Synchronization

@testable import UserBus  // messages are read and written here

/// A program on a bus that owns names, and answers calls as a test says. It ends with its last use.
final class Peer: Sendable {
    /// The answer to a call.
    enum Answer: Sendable {
        case values([BusValue])
        /// Values that are made when it is called.
        case made(@Sendable () -> [BusValue])
        /// A number of a type that the package only reads, by the type's letter and its bits.
        case number(Unicode.Scalar, UInt64)
        /// An error with a name and a text.
        case refusal(String, String)
        /// It lacks the method.
        case unknown
        case silence
        /// It leaves the bus, without an answer.
        case end
    }

    /// A call that it has received.
    struct Call: Sendable, Hashable {
        /// The interface, a period and the method.
        var name: String
        var path: String
        var values: [BusValue]
    }

    private struct State: Sendable {
        var calls: [Call] = []
        var signals: [(object: BusCall.Object, name: String, values: [BusValue])] = []
        var isStopped = false
        var isReady = false
        var owner = ""
    }

    private let work: Work

    /// What its thread does. The thread does not keep the peer.
    private final class Work: Sendable {
        let state = Mutex(State())
        let ended = DispatchSemaphore(value: 0)
    }

    init(_ bus: String, _ names: String..., answer: @escaping @Sendable (Call) -> Answer = { _ in .unknown }) throws {
        work = Work()
        Thread.detachNewThread { [work] in
            do { try Self.run(work, bus, names, answer) } catch {}
            work.state.withLock { ($0.isReady, $0.isStopped) = (true, true) }
            work.ended.signal()
        }
        while !work.state.withLock({ $0.isReady }) { usleep(1000) }
    }

    deinit { stop() }

    /// Leaves the bus.
    func stop() {
        work.state.withLock { $0.isStopped = true }
        work.ended.wait()
        work.ended.signal()
    }

    /// The calls so far.
    var calls: [Call] { work.state.withLock { $0.calls } }

    /// The last words of the names of the methods that were called so far.
    var methods: [String] { calls.map { $0.name.split(separator: ".").last.map(String.init) ?? "" } }

    /// Its own name on the bus.
    var owner: String { work.state.withLock { $0.owner } }

    /// Emits a signal, and waits until the bus has it.
    func emit(_ object: BusCall.Object, _ name: String, _ values: [BusValue]) {
        work.state.withLock { $0.signals.append((object, name, values)) }
        while work.state.withLock({ !$0.signals.isEmpty && !$0.isStopped }) { usleep(1000) }
    }

    private static func run(
        _ work: Work,
        _ address: String,
        _ names: [String],
        _ answer: @Sendable (Call) -> Answer
    ) throws {
        let bus = try BusConnection(.user, address: address)
        for name in names { try bus.take(name) }
        let owner = try names.first.flatMap { try bus.ask(BusCall(.daemon, "GetNameOwner", [.string($0)])).first?.text }
        work.state.withLock { ($0.isReady, $0.owner) = (true, owner ?? "") }
        while !work.state.withLock({ $0.isStopped }) {
            if let signal = work.state.withLock({ $0.signals.first }) {
                try bus.emit(signal.object, signal.name, signal.values)
                // The bus handles what it gets in order.
                _ = try bus.ask(BusCall(.daemon, "GetId"))
                work.state.withLock { _ = $0.signals.removeFirst() }
            }
            guard let message = try bus.receive() else {
                bus.wait(.milliseconds(5))
                continue
            }
            guard message.isCall else { continue }
            let call = Call(name: message.name, path: message.path, values: message.values())
            work.state.withLock { $0.calls.append(call) }
            switch answer(call) {
            case .values(let values): try message.answer(values)
            case .refusal(let name, let text): try message.refuse(name, text)
            case .unknown: try message.answer(nil)
            case .silence: break
            case .end: return
            case .made(let values): try message.answer(values())
            case .number(let type, let bits):
                var answer: OpaquePointer?
                _ = unsafe ocn_bus_message_new_method_return(message.message, &answer)
                defer { _ = unsafe ocn_bus_message_unref(answer) }
                var bits = bits.littleEndian
                _ = unsafe ocn_bus_message_append_basic(answer, CChar(type.value), &bits)
                unsafe bus.sendAnswer(answer)
            }
        }
        // The bus may see the end of the connection after another peer has asked for the same name.
        for name in names { _ = try bus.ask(BusCall(.daemon, "ReleaseName", [.string(name)])) }
    }
}
