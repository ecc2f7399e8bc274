// SPDX-License-Identifier: Apache-2.0
import FlyingFox
import SimulatorModel

/// A window's WebSocket. Each message in either direction is one JSON object.
struct PageSocket: WSMessageHandler {
    /// The maximum number of unsent messages. A window that falls behind further is disconnected, and reconnects.
    private static let maximumUnsentMessages = 1024

    private let simulator: Simulator
    private let windows: Windows

    init(_ simulator: Simulator, _ windows: Windows) {
        self.simulator = simulator
        self.windows = windows
    }

    func makeMessages(for client: AsyncStream<WSMessage>) async throws -> AsyncStream<WSMessage> {
        let (messages, output) = AsyncStream<WSMessage>.makeStream(
            bufferingPolicy: .bufferingOldest(Self.maximumUnsentMessages)
        )
        let send: Windows.Send = { text in
            if case .enqueued = output.yield(.text(text)) { return true }
            output.finish()
            return false
        }
        guard let window = await windows.open(send) else {
            output.yield(.close(WSCloseCode(1013, reason: "Too many windows are open. Close one of them.")))
            output.finish()
            return messages
        }
        let input = Task {
            for await message in client {
                switch message {
                case .text(let text): _ = send(answer(text).text)
                case .data: _ = send(Self.failed(nil, SimulatorFailure("bad-json", "Messages must be text.")).text)
                case .close: output.finish()
                }
            }
            output.finish()
        }
        output.onTermination = { [windows] _ in
            input.cancel()
            Task { await windows.close(window) }
        }
        return messages
    }

    private func answer(_ text: String) -> JSON {
        let action: JSON
        do throws(JSON.Problem) {
            action = try JSON(parsing: text)
        } catch {
            return Self.failed(nil, SimulatorFailure("bad-json", "The message is not JSON: \(error.reason)"))
        }
        do throws(SimulatorFailure) {
            try PageServer.checkPage(action)
            let result = try simulator.perform(action)
            if action["do"]?.string == "trace_rows", var members = result.object {
                members["type"] = "trace_rows"
                if let id = action["id"] { members["id"] = id }
                return .object(members)
            }
            return ["type": "done", "id": action["id"] ?? .null, "result": result]
        } catch {
            return Self.failed(action["id"], error)
        }
    }

    private static func failed(_ id: JSON?, _ failure: SimulatorFailure) -> JSON {
        ["type": "failed", "id": id ?? .null, "error": .string(failure.code), "message": .string(failure.message)]
    }
}
