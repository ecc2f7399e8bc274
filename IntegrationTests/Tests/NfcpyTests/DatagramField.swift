// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Glibc
import PeerSupport
import TagLink
import VirtualTags

/// A virtual field whose reader is nfcpy. Frames are datagrams of its `udp` device.
final class DatagramField: Sendable {
    /// The field. Between two tasks of the peer, our own reader may use it.
    let field: VirtualField
    /// The port on the loopback interface.
    let port: UInt16
    // Safe: a dispatch source may be cancelled from any thread.
    nonisolated(unsafe) private let source: any DispatchSourceRead

    /// Puts a tag behind its own port.
    init(_ tag: any VirtualTag) throws {
        let field = VirtualField(name: "udp", technologies: [.nfcA, .nfcB, .nfcF], maximumFrameLength: 290)
        field.bring(tag)
        let socket = try DatagramSocket()
        let (datagrams, continuation) = AsyncStream.makeStream(of: (bytes: [UInt8], sender: sockaddr_in).self)
        let source = DispatchSource.makeReadSource(
            fileDescriptor: socket.descriptor,
            queue: DispatchQueue(label: "DatagramField")
        )
        source.setEventHandler { while let datagram = socket.receive() { continuation.yield(datagram) } }
        // Keep the socket open until nothing waits for it any more.
        source.setCancelHandler {
            continuation.finish()
            withExtendedLifetime(socket) {}
        }
        source.activate()
        Task {
            var frames = FrameMaker()
            for await (bytes, sender) in datagrams {
                guard let answer = await Self.answer(bytes, &frames, field) else { continue }
                socket.send(answer, to: sender)
            }
        }
        self.field = field
        port = socket.port
        unsafe self.source = source
    }

    deinit {
        unsafe source.cancel()
    }

    /// Passes a datagram's frame to the field.
    ///
    /// - Returns: the answer; nil when the datagram is not one of the device's, or means that the field is off.
    private static func answer(_ datagram: [UInt8], _ frames: inout FrameMaker, _ field: VirtualField) async -> [UInt8]?
    {
        guard let datagram = FrameDatagram(datagram) else { return nil }
        guard case .frame(let bitRate, let bytes) = datagram else {
            field.switchCarrier(false)
            return nil
        }
        guard let technology = FrameDatagram.technology(of: bitRate), let link = field.link(for: technology) else {
            return nil
        }
        field.switchCarrier(true)
        let request = frames.frame(bytes, technology)
        do {
            let answer = try await link.transceive(request, timeout: .milliseconds(1000))
            frames.learn(from: answer, to: request)
            return FrameDatagram.answer(answer.bytes, bitRate: bitRate)
        } catch {
            let isSilence = error == LinkError(.timeout, "") || error == LinkError(.tagRemoved, "")
            return isSilence ? FrameDatagram.silence : FrameDatagram.answer([], bitRate: bitRate)
        }
    }
}
