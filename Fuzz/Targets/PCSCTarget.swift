import TagLink

// SPDX-License-Identifier: Apache-2.0
// modules: CLinuxSupport LinuxSupport TagLink PCSCDriver
// support: HostileReader
@testable import PCSCDriver

private let layer = HostileReader()
private let service = ServiceConnection(layer: layer, limits: .usual)

/// For any answers of a reader, its features are read, a route for frames is found or not, and a frame on this route gets an
/// answer or a link error, all within a few commands.
///
/// Input: a length byte and the card's ATR; then answers, each a length byte and its bytes.
@c(LLVMFuzzerTestOneInput)
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = unsafe [UInt8](UnsafeBufferPointer(start: start, count: count))
    guard let length = bytes.first else { return 0 }
    let resetBytes = Array(bytes.dropFirst().prefix(Int(length)))
    guard let reset = AnswerToReset(resetBytes) else { return 0 }
    guard reset.historicalBytes.count <= 15 else { fatalError("More historical bytes than there can be.") }
    layer.begin(resetBytes, answers: bytes.dropFirst(1 + resetBytes.count))
    let connection = CardConnection(service: service, reader: HostileReader.name)
    guard (try? connection.open(isInUse: false)) != nil else { return 0 }
    defer { connection.close(.leave) }
    let features = ReaderFeatures(connection)
    _ = (features.takesExtendedAPDUs, features.escapeCode, features.usbIdentifier, features.firmware)
    do throws(LinkError) {
        let identifier = try TagIdentification.identifier(connection)
        let told = try TagIdentification.answerToSelect(connection)
        let card = TagIdentification.card(reset, identifier: identifier, answerToSelect: told)
        guard (card.answerToSelect?.count ?? 0) <= 255 else { fatalError("An ATS that is too long.") }
        guard let kind = reset.storageCard?.kind else { return 0 }
        var finder = RouteFinder(connection: connection, findings: ReaderFindings())
        guard let route = try finder.route(for: kind, identifier: identifier) else { return 0 }
        for request in HostileReader.requests {
            let answer = try? route.exchange(request, timeout: .milliseconds(5), connection)
            guard (answer?.bytes.count ?? 0) <= 260 * 256 else { fatalError("An answer that is too long.") }
        }
        route.end(connection)
    } catch {
        guard !error.reason.isEmpty else { fatalError("An error without a reason.") }
    }
    guard layer.calls <= 2000 else { fatalError("\(layer.calls) calls.") }
    return 0
}
