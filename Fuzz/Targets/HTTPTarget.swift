// SPDX-License-Identifier: Apache-2.0
// modules: CSystemCalls SystemLibrary PrivateStorage UniversalLinks LinkFetching
import LinkFetching

private let maximumBody = 1024

/// Whatever a site answers, in whatever pieces, it comes to the same: a file within its limit, or an error of its own kind.
///
/// The first octet is the length of the pieces.
@c(LLVMFuzzerTestOneInput)
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = unsafe [UInt8](UnsafeBufferPointer(start: start, count: count))
    guard let length = bytes.first else { return 0 }
    let answer = Array(bytes.dropFirst())
    let whole = receive(answer, piece: max(1, answer.count))
    guard receive(answer, piece: Int(length) + 1) == whole else { fatalError("It matters how an answer is cut.") }
    return 0
}

private enum Outcome: Equatable {
    case file([UInt8])
    case error(FetchError.Code)
}

private func receive(_ answer: [UInt8], piece: Int) -> Outcome {
    var response = HTTPResponse(maximumBody: maximumBody)
    do throws(FetchError) {
        for start in stride(from: 0, to: answer.count, by: piece) where !response.isDone {
            try response.take(Array(answer[start..<min(start + piece, answer.count)]))
            guard response.body.count <= maximumBody else { fatalError("A file over its limit.") }
        }
        try response.end()
    } catch {
        return .error(error.code)
    }
    return .file(response.body)
}
