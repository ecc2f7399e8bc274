// SPDX-License-Identifier: Apache-2.0
import Synchronization
import TagLink
import Testing

/// A link that answers an exact list of requests, and records an issue for any other.
final class ScriptedLink: FrameLink {
    /// One exchange: the expected request, and the answer.
    struct Step: Sendable {
        var request: Frame
        var result: Result<Frame, LinkError>
        /// The expected timeout, if the test checks it.
        var timeout: Airtime?

        func within(_ timeout: Airtime) -> Step {
            var step = self
            step.timeout = timeout
            return step
        }
    }

    private struct State {
        var steps: [Step]
        var statistics = LinkStatistics()
    }

    private let state: Mutex<State>
    let technology: Technology
    let maximumFrameLength: Int

    init(_ steps: [Step], technology: Technology = .nfcA, maximumFrameLength: Int = 256) {
        self.technology = technology
        self.state = Mutex(State(steps: steps))
        self.maximumFrameLength = maximumFrameLength
    }

    var statistics: LinkStatistics { state.withLock { $0.statistics } }

    /// How many exchanges of the script were not asked for.
    var remaining: Int { state.withLock { $0.steps.count } }

    func transceive(_ frame: Frame, timeout: Airtime) async throws(LinkError) -> Frame {
        let result = state.withLock { state -> Result<Frame, LinkError> in
            guard let step = state.steps.first else {
                Issue.record("unexpected request \(hex(frame.bytes)) after the end of the script")
                return .failure(LinkError(.readerUnavailable, "The script is over."))
            }
            state.steps.removeFirst()
            if step.request != frame {
                Issue.record("request \(hex(frame.bytes)) in place of \(hex(step.request.bytes))")
            }
            if let wanted = step.timeout, wanted != timeout {
                Issue.record("\(hex(frame.bytes)) waits \(timeout) in place of \(wanted)")
            }
            state.statistics.count(
                request: frame,
                response: try? step.result.get(),
                timing: FrameTiming(technology),
                timeout: timeout
            )
            return step.result
        }
        return try result.get()
    }
}

extension ScriptedLink.Step {
    /// A command with its checksum, and an answer of whole bytes with one.
    static func exchange(_ request: String, _ response: String) -> Self {
        Self(request: Frame(bytes(request)), result: .success(Frame(bytes(response))))
    }

    /// A command with its checksum, and a 4-bit answer.
    static func exchange(_ request: String, nibble: UInt8) -> Self {
        Self(request: Frame(bytes(request)), result: .success(Frame(bits: [nibble], validBitsInLastByte: 4)))
    }

    /// A command with its checksum that fails.
    static func exchange(_ request: String, _ code: LinkError.Code) -> Self {
        Self(request: Frame(bytes(request)), result: .failure(LinkError(code, "scripted")))
    }

    /// A frame of bits without a checksum.
    static func raw(_ request: String, bits: Int = 8, _ response: String, responseBits: Int = 8) -> Self {
        Self(request: rawFrame(request, bits), result: .success(rawFrame(response, responseBits)))
    }

    /// A frame of bits without a checksum that fails.
    static func raw(_ request: String, bits: Int = 8, _ error: LinkError) -> Self {
        Self(request: rawFrame(request, bits), result: .failure(error))
    }

    private static func rawFrame(_ hex: String, _ bits: Int) -> Frame {
        bits == 8 ? Frame(bytes(hex), checksum: .none) : Frame(bits: bytes(hex), validBitsInLastByte: bits)
    }

    /// The three exchanges that wake and select the tag with the UID 04A1B2C3D4E580.
    static let reactivation: [Self] = [
        .raw("52", bits: 7, "4400"),
        .exchange("9370 8804a1b29f", "04"),
        .exchange("9570 c3d4e58072", "00"),
    ]
}

/// Bytes from hexadecimal digits; spaces don't count.
func bytes(_ hex: String) -> [UInt8] {
    let digits = hex.compactMap(\.hexDigitValue)
    return stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
}

/// Hexadecimal digits of bytes.
func hex(_ bytes: some Sequence<UInt8>) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
}
