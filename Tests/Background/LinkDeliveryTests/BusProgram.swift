// SPDX-License-Identifier: Apache-2.0
import Foundation
import Synchronization

@testable import UserBus  // the messages of a bus are internal

/// A program on a bus that owns a name and answers calls, as long as this lives.
final class BusProgram: Sendable {
    private let work = Work()

    /// What its thread has to know. The thread does not keep the program.
    private final class Work: Sendable {
        let isOver = Mutex(false)
        let ended = DispatchSemaphore(value: 0)
    }

    init(
        _ address: String,
        _ name: String,
        answer: @escaping @Sendable (BusConnection, ReceivedMessage) throws -> Void
    ) {
        let isReady = DispatchSemaphore(value: 0)
        Thread.detachNewThread { [work] in
            do {
                let bus = try BusConnection(.user, address: address)
                try bus.take(name)
                isReady.signal()
                while !work.isOver.withLock({ $0 }) {
                    if let message = try bus.receive() {
                        if message.isCall { try answer(bus, message) }
                    } else {
                        bus.wait(.milliseconds(5))
                    }
                }
                // The bus may see the end of the connection after another program has asked for the same name.
                _ = try bus.ask(BusCall(.daemon, "ReleaseName", [.string(name)]))
            } catch {
                // The bus may be gone first.
                isReady.signal()
            }
            work.ended.signal()
        }
        isReady.wait()
    }

    deinit { stop() }

    /// Leaves the bus, and gives its name back.
    func stop() {
        work.isOver.withLock { $0 = true }
        work.ended.wait()
        work.ended.signal()
    }

    /// A systemd whose one unit has a state.
    static func systemd(_ address: String, _ state: String, _ code: Int32, _ status: Int32) -> BusProgram {
        let properties: [String: BusValue] = [
            "ActiveState": .string(state), "Result": .string("resources"), "ExecMainCode": .int32(code),
            "ExecMainStatus": .int32(status),
        ]
        return BusProgram(address, "org.freedesktop.systemd1") { bus, call in
            guard call.name == "org.freedesktop.DBus.Properties.Get" else {
                return try call.answer(call.name.hasSuffix(".GetUnit") ? [.path("/unit")] : [])
            }
            let name = call.values().last?.text ?? ""
            if let value = properties[name] { return try call.answer([value]) }
            // The unit's job: there is none.
            try call.answer([.structure([.uint32(0), .path("/")])])
        }
    }
}
