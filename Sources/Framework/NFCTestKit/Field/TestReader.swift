// SPDX-License-Identifier: Apache-2.0
import Glibc
public import NFCRuntime

/// What a test runs on: virtual tags, or a reader on the desk.
public struct TestReader: Sendable {
    enum Kind: Sendable {
        case virtual
        case reader(NFCEnvironment.Reader)
        case recording(Recording)
    }

    let kind: Kind

    /// Virtual tags: the same everywhere, in no time.
    public static let virtual = TestReader(kind: .virtual)

    /// A contactless PC/SC reader. The person is asked for the tags, time is real, and there are no faults.
    ///
    /// - Parameter name: a part of its name; nil for the first.
    public static func pcsc(_ name: String? = nil) -> TestReader {
        reader(NFCEnvironment(ReaderConfiguration(reader: name.map { "pcsc:\($0)" } ?? "pcsc")).reader)
    }

    /// A recording, which answers what it was asked then in the order of then, by its own time.
    ///
    /// - Parameter path: its file, as `NFC_RECORD` or `nfc record` made it.
    /// - Throws: ``FieldError`` with `badRecording`.
    public static func recording(_ path: String) throws(FieldError) -> TestReader {
        do throws(RecordingError) {
            return TestReader(kind: .recording(try Recording(path: path)))
        } catch {
            throw FieldError(.badRecording, "\(error.reason) Make one with NFC_RECORD=\(path) in the environment.")
        }
    }

    /// A recording that was read.
    public static func recording(_ recording: Recording) -> TestReader { TestReader(kind: .recording(recording)) }

    /// Any reader.
    public static func reader(_ reader: NFCEnvironment.Reader) -> TestReader { TestReader(kind: .reader(reader)) }

    /// What `NFC_TEST_READER` says: `virtual`, or a reader as in `NFC_READER`; virtual when it is not set.
    ///
    /// It is not `NFC_READER`, so that a machine on which apps use a reader does not write to what lies on it in tests.
    public static var ofProcess: TestReader {
        guard let name = environmentValue("NFC_TEST_READER"), !name.isEmpty, name != "virtual" else { return .virtual }
        return reader(NFCEnvironment(ReaderConfiguration(reader: name)).reader)
    }
}

func environmentValue(_ name: String) -> String? {
    guard let value = unsafe getenv(name) else { return nil }
    return unsafe String(cString: value)
}
