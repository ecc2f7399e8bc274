// SPDX-License-Identifier: Apache-2.0
import Glibc
import NFCReaders
public import NFCSessions
import TagLink
public import TagTrace

/// The reader on which a test runs: virtual tags, or a real reader.
public struct TestReader: Sendable {
    enum Kind: Sendable {
        case virtual
        case reader(NFCEnvironment.Reader)
        case recording(Recording)
    }

    let kind: Kind

    /// Virtual tags, which behave the same on every machine and need no real time.
    public static let virtual = TestReader(kind: .virtual)

    /// A contactless PC/SC reader. The user is asked for the tags, time is real, and faults are not available.
    ///
    /// - Parameter name: a part of the reader's name; nil for the first reader.
    public static func pcsc(_ name: String? = nil) -> TestReader {
        reader(NFCEnvironment(ReaderConfiguration(reader: name.map { "pcsc:\($0)" } ?? "pcsc")).reader)
    }

    /// A recording, which gives the recorded answers to the same requests, in order and with the recorded times.
    ///
    /// - Parameter path: the file that `NFC_RECORD`, or `nfc scan --record`, wrote.
    /// - Throws: ``FieldError`` with `badRecording`.
    public static func recording(_ path: String) throws(FieldError) -> TestReader {
        do throws(RecordingError) {
            return TestReader(kind: .recording(try Recording(path: path)))
        } catch {
            throw FieldError(.badRecording, "\(error.reason) To record, set NFC_RECORD=\(path) in the environment.")
        }
    }

    /// A recording that has already been loaded.
    public static func recording(_ recording: Recording) -> TestReader { TestReader(kind: .recording(recording)) }

    /// Any reader.
    public static func reader(_ reader: NFCEnvironment.Reader) -> TestReader { TestReader(kind: .reader(reader)) }

    /// The reader that `NFC_TEST_READER` names: `virtual`, or a reader as in `NFC_READER`. Virtual if unset.
    ///
    /// Tests have their own variable, so that they never write to tags on a reader that `NFC_READER` selects for apps.
    public static var ofProcess: TestReader {
        guard let name = environmentValue("NFC_TEST_READER"), !name.isEmpty, name != "virtual" else { return .virtual }
        return reader(NFCEnvironment(ReaderConfiguration(reader: name)).reader)
    }
}

func environmentValue(_ name: String) -> String? {
    guard let value = unsafe getenv(name) else { return nil }
    return unsafe String(cString: value)
}

/// A scanning sheet that records its contents and that a test can cancel.
public final class RecordingSheet: ScanSheet {
    private struct State {
        var history: [SheetContent] = []
        var cancel: (@Sendable () -> Void)?
    }

    private let state = Locked(State())

    private let onPresent: (@Sendable (SheetContent) -> Void)?

    /// Creates a sheet.
    public convenience init() { self.init(onPresent: nil) }

    init(onPresent: (@Sendable (SheetContent) -> Void)?) { self.onPresent = onPresent }

    public func present(_ content: SheetContent, cancel: @escaping @Sendable () -> Void) {
        state.withLock { state in
            state.history.append(content)
            state.cancel = content.canCancel ? cancel : nil
        }
        onPresent?(content)
    }

    /// All contents that were shown, in order.
    public var history: [SheetContent] { state.withLock { $0.history } }

    /// The current content; nil before the first session.
    public var content: SheetContent? { state.withLock { $0.history.last } }

    /// Presses the Cancel button.
    ///
    /// - Returns: false when the sheet has no Cancel button now.
    @discardableResult
    public func cancel() -> Bool {
        guard let cancel = state.withLock({ $0.cancel }) else { return false }
        cancel()
        return true
    }
}
