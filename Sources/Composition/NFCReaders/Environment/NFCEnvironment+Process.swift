// SPDX-License-Identifier: Apache-2.0
import Glibc
public import NFCRuntime
import PCSCDriver
import PN532Driver
import SystemLibrary
import TagLink
public import TagTrace
import VirtualTags
import VisibleText

extension NFCEnvironment {
    /// The environment of the process. It is created from `NFC_READER`, `NFC_TAGS`, `NFC_SHEET` and `NFC_RECORD` when
    /// it is first used.
    public static let process: NFCEnvironment = NFCEnvironment(.ofProcess) { departure in
        // The session that ends because of this has the same reason, and does not report it again.
        NFCEnvironment.process.noticeOnce(departure.reason, from: "NFC_READER")
    }

    /// The environment for new sessions: the test's, or else the process's.
    public static var current: NFCEnvironment {
        ofTest ?? .process
    }

    /// Creates an environment with real time and the sheet that fits the process.
    ///
    /// - Parameters:
    ///   - configuration: which reader. If it can't be used, the environment has no reader, and the reason.
    ///   - onDeparture: called once when the reader is a recording, and the app departs from it; on any thread.
    public convenience init(
        _ configuration: ReaderConfiguration,
        onDeparture: (@Sendable (ReplayDeparture) -> Void)? = nil
    ) {
        let made = Self.made(configuration, onDeparture)
        var reader = made.reader
        var recorder: Recorder?
        var failure = made.recordingError
        if let path = configuration.recording, made.isThere {
            do throws(RecordingError) {
                let file = try Recorder(path: path)
                reader = file.recording(reader)
                // Its first line is written by now.
                if let failure = file.failure { throw failure }
                recorder = file
            } catch {
                failure = error
                reader = .none(reason: VisibleText.escaped(error.reason))
            }
        }
        self.init(
            reader: reader,
            clock: SystemClock.shared,
            sheet: SheetChoice.automatic.makeSheet(),
            cardPort: Self.cardPort(configuration.cardReader) ?? made.cardPort,
            isOfTest: false,
            gate: made.isThere && made.usesGate ? ReaderGate.ofUser : nil,
            companion: ReaderFiles(
                recorder: recorder,
                recordingError: failure,
                tagFileError: made.tagFileError,
                tagSaver: made.tagSaver
            ),
            place: nil
        )
    }

    /// A reader and its companions.
    private struct Made {
        var reader: Reader
        var cardPort: (any CardReaderPort)?
        var tagSaver: TagFileSaver?
        var recordingError: RecordingError?
        var tagFileError: TagFileError?

        var isThere: Bool { if case .none = reader { false } else { true } }
        /// Whether the service may want the reader too. It never wants a recording.
        var usesGate = true
    }

    private static func made(
        _ configuration: ReaderConfiguration,
        _ onDeparture: (@Sendable (ReplayDeparture) -> Void)?
    ) -> Made {
        guard let name = configuration.reader else { return defaultReader(configuration) }
        let parts = name.split(separator: ":", maxSplits: 1)
        let rest = parts.dropFirst().first.map(String.init)
        switch parts.first {
        case "virtual" where !name.contains(":"): return virtual(configuration)
        case "none" where !name.contains(":"):
            let source = configuration.readerSource
            return Made(reader: .none(reason: "\(source) is none, so there is no reader."))
        case "pcsc": return Made(reader: pcscReader(rest, configuration))
        case "pn532":
            let (reader, cardPort) = pn532(rest ?? "")
            return Made(reader: reader, cardPort: cardPort)
        case "replay": return replay(rest, onDeparture)
        default:
            let escaped = VisibleText.escaped(name)
            let reason = "There is no reader \"\(escaped)\"; use virtual, pcsc, pn532:PATH, replay:FILE or none."
            return Made(reader: .none(reason: reason))
        }
    }

    private static func virtual(_ configuration: ReaderConfiguration) -> Made {
        do throws(TagFileError) {
            if let path = configuration.tags, ImageFolder.isFolder(path) { return folder(path, configuration) }
            let images = try ImageFiles(configuration)
            let field = VirtualField()
            for tag in images.tags { field.bring(tag) }
            return Made(reader: .field(field), tagSaver: images.saver)
        } catch {
            return Made(
                reader: .none(reason: "\(configuration.tagsSource): \(VisibleText.escaped(error.reason))"),
                tagFileError: error
            )
        }
    }

    /// Creates a virtual field with the images of a folder. The folder may appear later.
    private static func folder(
        _ path: String,
        _ configuration: ReaderConfiguration,
        onNotice: (@Sendable (String) -> Void)? = nil
    ) -> Made {
        let reader = FolderField()
        let problem =
            "\(configuration.tagsSource): The folder of tags \(VisibleText.escaped(path)) is missing. Make it, or name another."
        do throws(TagFileError) {
            _ = try ImageFolder(path, field: reader.field) { isThere in
                reader.note(isThere ? nil : problem)
            } onNotice: { text in
                let text = "\(configuration.tagsSource): \(text)"
                guard let onNotice else {
                    OutputDescriptor.standardError.write(VisibleText.escaped(text) + "\n")
                    return
                }
                onNotice(text)
            }
            // An app's session waits for tags, even without the folder. The service reports the state of its reader.
            return Made(reader: .field(onNotice == nil ? reader.field : reader))
        } catch {
            return Made(
                reader: .none(reason: "\(configuration.tagsSource): \(VisibleText.escaped(error.reason))"),
                tagFileError: error
            )
        }
    }

    /// Creates a reader from a recording, or the reason why there is none.
    private static func replay(_ path: String?, _ onDeparture: (@Sendable (ReplayDeparture) -> Void)?) -> Made {
        guard let path, !path.isEmpty else { return Made(reader: .none(reason: "Name the recording: replay:FILE.")) }
        do throws(RecordingError) {
            return Made(
                reader: RecordingReplay(try Recording(path: path), onDeparture: onDeparture).reader,
                usesGate: false
            )
        } catch {
            return Made(reader: .none(reason: VisibleText.escaped(error.reason)), recordingError: error)
        }
    }

    /// Creates the port for apps that are cards.
    private static func cardPort(_ name: String?) -> (any CardReaderPort)? {
        guard let parts = name?.split(separator: ":", maxSplits: 1), parts.first == "pcsc" else { return nil }
        return PCSCCardPort(path: parts.count == 2 ? String(parts[1]) : nil)
    }

    // MARK: PCSC

    /// Creates a PC/SC reader, or the reason why there is none.
    ///
    /// - Parameter name: a part of its name; nil for the first reader.
    private static func pcscReader(_ name: String?, _ configuration: ReaderConfiguration) -> Reader {
        do throws(LinkError) {
            let choice = name.map(ReaderChoice.named) ?? .first
            return .discovering(try PCSCReader.find(choice, within: configuration.patience))
        } catch {
            return .none(reason: VisibleText.escaped(error.reason))
        }
    }

    /// Creates the reader for a configuration without a name: the first contactless one, else the virtual field. Images
    /// of tags always mean the virtual field. If the PC/SC service hangs, this is an error, and the virtual field is
    /// not used instead.
    private static func defaultReader(_ configuration: ReaderConfiguration) -> Made {
        guard configuration.tags == nil else { return virtual(configuration) }
        do throws(LinkError) {
            guard let reader = try PCSCReader.findContactless(within: configuration.patience) else {
                return virtual(configuration)
            }
            return Made(reader: .discovering(reader))
        } catch {
            return Made(reader: .none(reason: VisibleText.escaped(error.reason)))
        }
    }

    // MARK: PN532

    /// Creates a PN532, which can also be a card for other readers.
    ///
    /// Its line is opened when a session begins, so an adapter that is plugged in later is found then.
    ///
    /// - Parameter connection: the path of a serial line, with its speed if it is not the usual one.
    static func pn532(_ connection: String) -> (reader: Reader, cardPort: (any CardReaderPort)?) {
        do throws(LinkError) {
            let reader = try PN532Reader(connection)
            let port = PN532CardPort(try PN532Card(connection)) { error in
                OutputDescriptor.standardError.write("\(VisibleText.escaped(error.reason))\n")
            }
            return (.discovering(reader), port)
        } catch {
            return (.none(reason: VisibleText.escaped(error.reason)), nil)
        }
    }

    // MARK: The service

    /// Creates the environment of the background service. It does not ask for the reader, shows no sheet, and accepts a
    /// reader that is connected later.
    ///
    /// - Parameters:
    ///   - configuration: which reader; without a name, the first of PC/SC. The virtual reader only has tags if images
    ///     are named; their folder need not exist yet.
    ///   - onNotice: called with a sentence for each file that can't be used; on any thread. Nothing is written to
    ///     standard error.
    /// - Returns: an environment without a reader when none can ever exist: its name is invalid, or its file can't be
    ///   used (``tagFileError``, ``recordingError``).
    public static func background(
        _ configuration: ReaderConfiguration,
        onNotice: @escaping @Sendable (String) -> Void
    ) -> NFCEnvironment {
        let name = configuration.reader ?? (configuration.tags == nil ? "pcsc" : "virtual")
        let parts = name.split(separator: ":", maxSplits: 1)
        switch parts.first {
        case "pcsc" where name != "pcsc:":
            let choice = parts.dropFirst().first.map { ReaderChoice.named(String($0)) } ?? .firstContactless
            return NFCEnvironment(reader: .discovering(PCSCReader(choice)))
        case "virtual" where configuration.tags == nil:
            return NFCEnvironment(reader: .field(VirtualField()))
        default:
            var configuration = configuration
            configuration.reader = name
            let made: Made
            if name == "virtual", let path = configuration.tags,
                ImageFolder.isFolder(path) || ImageFolder.mayCome(path)
            {
                made = folder(path, configuration, onNotice: onNotice)
            } else {
                made = Self.made(configuration, nil)
            }
            return NFCEnvironment(
                reader: made.reader,
                clock: SystemClock.shared,
                isOfTest: false,
                companion: ReaderFiles(recordingError: made.recordingError, tagFileError: made.tagFileError),
                place: nil
            )
        }
    }
}
