// SPDX-License-Identifier: Apache-2.0
import Foundation
package import SimulatorDriver
import TagLink
package import VirtualTags

/// The other end of a reader's socket: it reads lines on its own thread and answers them by a script, or from a field.
package final class FakeSimulator: Sendable {
    package typealias Request = [String: Any]
    /// Returns the lines that follow a request, without line feeds.
    package typealias Script = @Sendable (FakeSimulator, Request) -> [String]

    package static let greeting = #"{"hello":1,"name":"Test","technologies":["nfc-a","nfc-b","nfc-f","nfc-v"]}"#

    private let script: Script
    private let descriptors = Locked<[Int32]>([])
    private let received = Locked<[String]>([])
    private let observation = Locked<PresenceObservation?>(nil)
    /// How many bytes of a line are sent at once; nil for all.
    package let piece: Int?

    package init(piece: Int? = nil, _ script: @escaping Script) {
        self.script = script
        self.piece = piece
    }

    deinit { end() }

    /// The reader of the simulator. Each connection gets its own socket.
    package var reader: SimulatorReader {
        SimulatorReader { [self] () throws(LinkError) in connect() }
    }

    /// What every connection has sent, line by line.
    package var lines: [String] { received.withLock { $0 } }

    /// Makes a connection, and serves it until its end.
    private func connect() -> Int32 {
        var ends: [Int32] = [0, 0]
        precondition(unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0)
        _ = fcntl(ends[0], F_SETFL, O_NONBLOCK)
        descriptors.withLock { [end = ends[1]] in $0.append(end) }
        let end = ends[1]
        Thread { [weak self, descriptors] in
            Self.serve(end) { self?.take($0, end) }
            // A number that is closed may soon be another test's socket.
            descriptors.withLock { descriptors in
                guard let index = descriptors.firstIndex(of: end) else { return }
                descriptors.remove(at: index)
                close(end)
            }
        }.start()
        return ends[0]
    }

    private static func serve(_ descriptor: Int32, _ take: (Data) -> Void) {
        var pending = Data()
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = unsafe read(descriptor, &buffer, buffer.count)
            guard count > 0 else { break }
            pending += buffer[..<count]
            while let end = pending.firstIndex(of: 0x0A) {
                take(Data(pending[pending.startIndex..<end]))
                pending = Data(pending[(end + 1)...])
            }
        }
    }

    private func take(_ line: Data, _ descriptor: Int32) {
        received.withLock { $0.append(String(decoding: line, as: UTF8.self)) }
        guard let request = try? JSONSerialization.jsonObject(with: line) as? Request else { return }
        for answer in script(self, request) { Self.send(answer + "\n", to: descriptor, piece) }
    }

    /// Sends a line that no request asked for, to the last connection.
    package func push(_ line: String) {
        descriptors.withLock { [piece] descriptors in
            if let descriptor = descriptors.last { Self.send(line + "\n", to: descriptor, piece) }
        }
    }

    /// Ends all connections.
    package func end() {
        descriptors.withLock { for descriptor in $0 { shutdown(descriptor, Int32(SHUT_RDWR)) } }
    }

    private static func send(_ text: String, to descriptor: Int32, _ piece: Int?) {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let part = rest.prefix(piece ?? rest.count)
            let count = unsafe part.withUnsafeBytes {
                unsafe Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }
}

extension FakeSimulator {
    /// A simulator whose tags are those of a field, without airtime.
    package static func serving(_ field: VirtualField, piece: Int? = nil) -> FakeSimulator {
        let simulator = FakeSimulator(piece: piece) { _, request in answers(to: request, from: field) }
        simulator.observe(field)
        return simulator
    }

    private func observe(_ field: VirtualField) {
        observation.withLock { $0 = field.observePresence { [weak self] in self?.push(#"{"event":"presence"}"#) } }
    }

    package static func answers(to request: Request, from field: VirtualField) -> [String] {
        if request["hello"] != nil { return [greeting] }
        guard let id = request["id"] as? Int else { return [] }
        switch request["do"] as? String {
        case "carrier":
            field.switchCarrier(request["on"] as? Bool == true)
            return [#"{"id":\#(id)}"#]
        case "watch": return [#"{"id":\#(id)}"#]
        case "arrival":
            let identifier = [UInt8](hexadecimal: (request["identifier"] as? String ?? "").utf8) ?? []
            return [#"{"id":\#(id),"arrival":\#(field.arrival(of: identifier).map(String.init) ?? "null")}"#]
        case "frame": return [frame(request, id, field)]
        default: return [#"{"id":\#(id),"error":"no-such-request","message":"No."}"#]
        }
    }

    private static func frame(_ request: Request, _ id: Int, _ field: VirtualField) -> String {
        let names = ["nfc-a", "nfc-b", "nfc-f", "nfc-v"]
        guard let index = names.firstIndex(of: request["technology"] as? String ?? ""),
            let link = field.link(for: Technology.allCases[index]),
            let bytes = [UInt8](hexadecimal: (request["bytes"] as? String ?? "").utf8)
        else { return #"{"id":\#(id),"error":"invalid","message":"No frame."}"# }
        var frame = Frame(bits: bytes, validBitsInLastByte: request["bits"] as? Int ?? 8)
        let checksums: [String: Frame.Checksum] = ["automatic": .automatic, "crc-b": .crcB, "none": .none]
        frame.checksum = checksums[request["checksum"] as? String ?? "none"] ?? .none
        let (sent, timeout) = (frame, Airtime.microseconds(Int64(request["timeout_us"] as? Int ?? 0)))
        do throws(LinkError) {
            let answer = try waiting { () throws(LinkError) in
                try await link.transceive(sent, timeout: timeout)
            }
            let checksum = checksums.first { $0.value == answer.checksum }?.key ?? "none"
            let bits = answer.validBitsInLastByte
            let frame = #""bytes":"\#(answer.bytes.hexText())","bits":\#(bits),"checksum":"\#(checksum)""#
            return #"{"id":\#(id),\#(frame)}"#
        } catch {
            let code = "\(error.code)".map { $0.isUppercase ? "-" + $0.lowercased() : String($0) }.joined()
            let point = error.collision.map {
                #","collision_bit":\#($0.bitIndex),"collision_bits":"\#($0.bits.hexText())""#
            }
            return #"{"id":\#(id),"error":"\#(code)","message":"It failed."\#(point ?? "")}"#
        }
    }

    /// Waits on this thread for work that never suspends.
    private static func waiting<Value: Sendable>(
        _ work: @escaping @Sendable () async throws(LinkError) -> Value
    ) throws(LinkError) -> Value {
        let result = Locked<Result<Value, LinkError>?>(nil)
        let isDone = DispatchSemaphore(value: 0)
        Task {
            do throws(LinkError) {
                let value = try await work()
                result.withLock { $0 = .success(value) }
            } catch {
                result.withLock { $0 = .failure(error) }
            }
            isDone.signal()
        }
        isDone.wait()
        guard let outcome = result.withLock({ $0 }) else { throw LinkError(.cancelled, "") }
        return try outcome.get()
    }
}
