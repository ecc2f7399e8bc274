// SPDX-License-Identifier: Apache-2.0
// modules: CLinuxSupport LinuxSupport TextSafety NDEF UniversalLinks BackgroundTagReading CCurl CSDBus UserBus LinkDelivery
import LinkDelivery

/// The head of a response has the same result with LF and with CRLF line ends: it is complete within its limit, it waits
/// for more, or it is a specific error.
///
/// The first byte is unused, so that saved inputs stay valid.
@c(LLVMFuzzerTestOneInput)
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = unsafe [UInt8](UnsafeBufferPointer(start: start, count: count)).dropFirst()
    let lines = bytes.split(separator: 0x0A, omittingEmptySubsequences: false).map { $0.filter { $0 != 0x0D } }
    guard receive(lines, ending: [0x0A]) == receive(lines, ending: [0x0D, 0x0A]) else {
        fatalError("It matters how a line ends.")
    }
    return 0
}

private enum Outcome: Equatable {
    case complete
    case waiting
    case error(FetchError.Code)
}

private func receive(_ lines: [[UInt8]], ending end: [UInt8]) -> Outcome {
    var head = AnswerHead()
    do throws(FetchError) {
        for line in lines where !head.isComplete { try head.take(line + end) }
    } catch {
        return .error(error.code)
    }
    return head.isComplete ? .complete : .waiting
}
