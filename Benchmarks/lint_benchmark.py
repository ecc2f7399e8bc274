# SPDX-License-Identifier: Apache-2.0
"""Measures nfc-lint on apps of 1000 and 5000 Swift files, a tenth of which use Core NFC.

Usage: python lint_benchmark.py NFC-LINT [FOLDER]
  NFC-LINT  a release build of the program
  FOLDER    where to keep the apps; a temporary folder that is removed if it is missing
"""
import pathlib
import resource
import subprocess
import sys
import tempfile
import time

PLIST = """<?xml version="1.0" encoding="UTF-8"?>
<plist version="1.0"><dict>
<key>CFBundlePackageType</key><string>APPL</string>
<key>NFCReaderUsageDescription</key><string>Scan your museum card to see your visits.</string>
<key>com.apple.developer.nfc.readersession.iso7816.select-identifiers</key><array><string>F0010203040506</string></array>
</dict></plist>
"""

# A reader of messages: several ways out of a callback, helpers, and a decoded record.
MESSAGES = """import CoreNFC
import UIKit

final class MessageReader@@: NSObject, NFCNDEFReaderSessionDelegate {
    private var session@@: NFCNDEFReaderSession?
    var onMessage: ((String) -> Void)?

    func scan@@() {
        guard NFCNDEFReaderSession.readingAvailable else { return report@@("This iPhone can't scan.") }
        session@@ = NFCNDEFReaderSession(delegate: self, queue: nil, invalidateAfterFirstRead: false)
        session@@?.alertMessage = "Hold your iPhone near card @@."
        session@@?.begin()
    }

    func readerSession(_ session: NFCNDEFReaderSession, didDetect tags: [any NFCNDEFTag]) {
        guard tags.count == 1, let tag = tags.first else {
            session.alertMessage = "Hold one card near the iPhone."
            session.restartPolling()
            return
        }
        session.connect(to: tag) { error in
            if error != nil { return session.invalidate(errorMessage: "The card moved. Try again.") }
            tag.queryNDEFStatus { status, capacity, error in
                guard error == nil, status != .notSupported else {
                    return session.invalidate(errorMessage: "This card can't be used here.")
                }
                tag.readNDEF { message, error in
                    guard let record = message?.records.first else {
                        return session.invalidate(errorMessage: "The card is empty.")
                    }
                    let text = self.decode@@(record)
                    session.alertMessage = "Your visit was added."
                    session.invalidate()
                    DispatchQueue.main.async { self.onMessage?(text) }
                }
            }
        }
    }

    func readerSession(_ session: NFCNDEFReaderSession, didDetectNDEFs messages: [NFCNDEFMessage]) {}

    func readerSession(_ session: NFCNDEFReaderSession, didInvalidateWithError error: any Error) {
        self.session@@ = nil
        guard (error as? NFCReaderError)?.code != .readerSessionInvalidationErrorUserCanceled else { return }
        DispatchQueue.main.async { self.report@@(error.localizedDescription) }
    }

    private func decode@@(_ record: NFCNDEFPayload) -> String {
        if let url = record.wellKnownTypeURIPayload() { return url.absoluteString }
        return String(data: record.payload.dropFirst(3), encoding: .utf8) ?? ""
    }

    private func report@@(_ text: String) { onMessage?(text) }
}
"""

# A reader of cards: APDUs with async functions, an error type, and an extension with the delegate's callbacks.
CARDS = """import CoreNFC

enum CardError@@: Error { case refused(UInt8, UInt8), empty }

final class CardReader@@: NSObject {
    private var session@@: NFCTagReaderSession?
    private var continuation: CheckedContinuation<[UInt8], any Error>?

    func balance@@() async throws -> Int {
        let bytes = try await withCheckedThrowingContinuation { continuation in
            self.continuation = continuation
            guard NFCTagReaderSession.readingAvailable else { return finish@@(.failure(CardError@@.empty)) }
            session@@ = NFCTagReaderSession(pollingOption: .iso14443, delegate: self)
            session@@?.alertMessage = "Hold your iPhone near ticket @@."
            session@@?.begin()
        }
        return bytes.reduce(0) { $0 << 8 | Int($1) }
    }

    private func read@@(_ card: any NFCISO7816Tag) async throws -> [UInt8] {
        var result: [UInt8] = []
        for block in 0..<UInt8(4) {
            let command = NFCISO7816APDU(
                instructionClass: 0, instructionCode: 0xB0, p1Parameter: 0, p2Parameter: block, data: Data(),
                expectedResponseLength: 16)
            let (data, first, second) = try await card.sendCommand(apdu: command)
            guard first == 0x90, second == 0 else { throw CardError@@.refused(first, second) }
            result += data
        }
        return result
    }

    private func finish@@(_ result: Result<[UInt8], any Error>) {
        continuation?.resume(with: result)
        continuation = nil
    }
}

extension CardReader@@: NFCTagReaderSessionDelegate {
    func tagReaderSessionDidBecomeActive(_ session: NFCTagReaderSession) {}

    func tagReaderSession(_ session: NFCTagReaderSession, didInvalidateWithError error: any Error) {
        session@@ = nil
        finish@@(.failure(error))
    }

    func tagReaderSession(_ session: NFCTagReaderSession, didDetect tags: [NFCTag]) {
        guard tags.count == 1, case .iso7816(let card)? = tags.first else {
            return session.invalidate(errorMessage: "Use one ticket at a time.")
        }
        Task {
            do {
                try await session.connect(to: tags[0])
                finish@@(.success(try await read@@(card)))
                session.invalidate()
            } catch {
                session.invalidate(errorMessage: "The ticket moved. Try again.")
                finish@@(.failure(error))
            }
        }
    }
}
"""

# A screen that uses the reader with the same number.
SCREEN = """import UIKit

final class Screen@@: UIViewController {
    private let reader = READER()
    private let label = UILabel()

    override func viewDidLoad() {
        super.viewDidLoad()
        view.addSubview(label)
    }

    @objc private func start@@() { Model@@().update(4) { self.label.text = $0 } }
}
"""

# A model of the app, without Core NFC.
MODEL = """import Foundation

final class Model@@ {
    private var values: [String: Int] = [:]
    private(set) var title = "Visits"

    func update(_ count: Int, completion: @escaping (String) -> Void) {
        values["count@@"] = count
        load { result in
            switch result {
            case .success(let text): completion(text)
            case .failure(let error): completion(error.localizedDescription)
            }
        }
    }

    private func load(_ completion: @escaping (Result<String, any Error>) -> Void) {
        DispatchQueue.global().async { completion(.success(self.title)) }
    }
METHODS}
"""

METHOD = """
    func step#(_ value: Int) -> String {
        let sum = values.values.reduce(value * #) { $0 + $1 }
        if sum > 10, let first = values.keys.sorted().first { return "\\(first) \\(sum)" }
        return title.isEmpty ? "none" : "\\(title) #"
    }
"""


def write_app(folder, count):
    """Writes an app of so many files. Every type and every global name occurs once."""
    sources = folder / "App"
    methods = "".join(METHOD.replace("#", str(number)) for number in range(1, 12))
    sources.mkdir(parents=True)
    (sources / "Info.plist").write_text(PLIST)
    for number in range(count):
        if number % 10 == 0:
            text = MESSAGES if number % 20 == 0 else CARDS
        elif number % 10 == 1:
            text = SCREEN.replace("READER", "MessageReader@@" if number % 20 == 1 else "CardReader@@")
            text = text.replace("Reader@@", f"Reader{number - 1}")
        else:
            text = MODEL.replace("METHODS", methods)
        group = sources / f"Group{number // 100}"
        group.mkdir(exist_ok=True)
        name = text.split("final class ")[1].split("@@")[0]
        (group / f"{name}{number}.swift").write_text(text.replace("@@", str(number)))


def measure(program, folder):
    """The seconds, and those of all processors, that the program takes."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    subprocess.run([program, "--json", str(folder)], stdout=subprocess.DEVNULL, check=False)
    seconds = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return seconds, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    program = sys.argv[1]
    with tempfile.TemporaryDirectory() as temporary:
        base = pathlib.Path(sys.argv[2] if len(sys.argv) == 3 else temporary)
        for count in (1000, 5000):
            folder = base / f"app{count}"
            if not folder.exists():
                write_app(folder, count)
            seconds, processor = min(measure(program, folder) for _ in range(3))
            print(f"{count} files, {count // 10} with Core NFC: {seconds:.2f} s ({processor:.2f} s of processor time)")


if __name__ == "__main__":
    main()
