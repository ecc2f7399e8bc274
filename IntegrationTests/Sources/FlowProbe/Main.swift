// SPDX-License-Identifier: Apache-2.0
// A test of an app's flow with the test kit: on a virtual tag, or on the reader of NFC_TEST_READER. It prints what the flow
// saw, and exits with 1 when the test fails.
//
// Usage: FlowProbe PRODUCT
@unsafe @preconcurrency import CoreNFC
import Foundation
import NFCTestKit

@main
struct FlowProbe {
    static func main() async {
        let product = CommandLine.arguments.last ?? ""
        let link = "https://example.org/a"
        do {
            let report = try await explore(
                .everyLoss,
                near: .product(product, holding: .uri("https://example.com"))
            ) { field in
                // The second run finds what the first one wrote.
                let old = try await field.completion("write") { Writer(link).start($0) }.get()
                let new = try await field.completion("write again") { Writer(link).start($0) }.get()
                field.note("found \(old)")
                field.note("found \(new)")
            }
            for entry in report.first.trace.entries {
                if case .note(let text) = entry.event, text.hasPrefix("found ") { say(text) }
            }
            let texts = report.first.sheet.map(\.content.message)
            for (index, text) in texts.enumerated() where index == 0 || texts[index - 1] != text {
                say("sheet \(text)")
            }
            for (name, count) in report.first.completions.sorted(by: { $0.key < $1.key }) { say("\(name) \(count)") }
            say("runs \(report.runs)")
        } catch {
            say("\(error)")
            exit(1)
        }
    }

    /// Prints a line.
    static func say(_ line: String) {
        FileHandle.standardOutput.write(Data((line + "\n").utf8))
    }
}

/// A client that reads a link and writes another one.
private final class Writer: NSObject, NFCNDEFReaderSessionDelegate, @unchecked Sendable {
    // Sendable because all of it is used only on the session's queue after the start.
    private let link: String
    private var session: NFCNDEFReaderSession?
    /// A session holds its delegate weakly, so the client holds itself until the session ends.
    private var itself: Writer?
    private var completion: (@Sendable (Result<String, any Error>) -> Void)?

    init(_ link: String) { self.link = link }

    func start(_ completion: @escaping @Sendable (Result<String, any Error>) -> Void) {
        self.completion = completion
        itself = self
        let session = NFCNDEFReaderSession(delegate: self, queue: nil, invalidateAfterFirstRead: false)
        session.alertMessage = "Hold the card near the reader."
        self.session = session
        session.begin()
    }

    func readerSession(_ session: NFCNDEFReaderSession, didDetectNDEFs messages: [NFCNDEFMessage]) {}

    func readerSession(_ session: NFCNDEFReaderSession, didDetect tags: [any NFCNDEFTag]) {
        guard let tag = tags.first else { return }
        session.connect(to: tag) { [self] error in
            if let error { return fail(error) }
            tag.readNDEF { [self] message, error in
                guard let message else { return fail(error) }
                let old = message.records.first?.wellKnownTypeURIPayload()?.absoluteString ?? ""
                guard let payload = NFCNDEFPayload.wellKnownTypeURIPayload(string: link) else { return fail(nil) }
                tag.writeNDEF(NFCNDEFMessage(records: [payload])) { [self] error in
                    if let error { return fail(error) }
                    session.alertMessage = "Done."
                    session.invalidate()
                    finish(.success(old))
                }
            }
        }
    }

    func readerSession(_ session: NFCNDEFReaderSession, didInvalidateWithError error: any Error) {
        finish(.failure(error))
        itself = nil
    }

    private func fail(_ error: (any Error)?) {
        session?.invalidate(errorMessage: "Hold the card still, and try again.")
        finish(.failure(error ?? CocoaError(.featureUnsupported)))
    }

    private func finish(_ result: Result<String, any Error>) {
        completion?(result)
        completion = nil
    }
}
