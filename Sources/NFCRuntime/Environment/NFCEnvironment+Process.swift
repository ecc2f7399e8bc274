// SPDX-License-Identifier: Apache-2.0
import Glibc
import PCSCDriver
import PN532Driver
import TagLink
import VirtualTags

extension NFCEnvironment {
    /// The environment of the process, made from `NFC_READER`, `NFC_TAGS`, `NFC_SHEET` and `NFC_RECORD` when it is first
    /// used.
    public static let process = NFCEnvironment(.ofProcess) { departure in
        // The app's error says it too, where the app shows it.
        OutputDescriptor.standardError.write("NFC_READER: \(TerminalText.escaped(departure.reason))\n")
    }

    /// Makes an environment with real time and the sheet that fits the process.
    ///
    /// - Parameters:
    ///   - configuration: which reader. One that can't be had gives an environment without a reader, and the reason.
    ///   - onDeparture: called once, where the reader is a recording and is left; on any thread.
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
                recorder = file
            } catch {
                failure = error
                reader = .none(reason: TerminalText.escaped(error.reason))
            }
        }
        self.init(
            reader: reader,
            sheet: SheetChoice.automatic.makeSheet(),
            cardPort: Self.cardPort(configuration.cardReader) ?? made.cardPort,
            gate: made.isThere && made.usesGate ? .ofUser : nil,
            recorder: recorder,
            recordingError: failure,
            onSessionEnd: made.onSessionEnd
        )
    }

    /// A reader, and what comes with it.
    private struct Made {
        var reader: Reader
        var cardPort: (any CardReaderPort)?
        var onSessionEnd: (@Sendable () -> Void)?
        var recordingError: RecordingError?

        var isThere: Bool { if case .none = reader { false } else { true } }
        /// Whether the service may want the reader too; it has no use for a recording.
        var usesGate = true
    }

    private static func made(
        _ configuration: ReaderConfiguration,
        _ onDeparture: (@Sendable (ReplayDeparture) -> Void)?
    ) -> Made {
        let parts = (configuration.reader ?? defaultReader(configuration)).split(separator: ":", maxSplits: 1)
        let rest = parts.dropFirst().first.map(String.init)
        switch parts.first {
        case nil, "virtual": return virtual(configuration)
        case "none": return Made(reader: .none(reason: "NFC_READER is none, so there is no reader."))
        case "pcsc": return Made(reader: pcscReader(rest))
        case "pn532":
            let (reader, cardPort) = pn532(rest ?? "")
            return Made(reader: reader, cardPort: cardPort)
        case "replay": return replay(rest, onDeparture)
        case .some(let name):
            let escaped = TerminalText.escaped(String(name))
            let reason = "There is no reader \"\(escaped)\"; use virtual, pcsc, pn532:PATH, replay:FILE or none."
            return Made(reader: .none(reason: reason))
        }
    }

    private static func virtual(_ configuration: ReaderConfiguration) -> Made {
        do throws(ImageFiles.Failure) {
            if let folder = configuration.tags, ImageFolder.isFolder(folder) {
                let field = VirtualField()
                _ = try ImageFolder(folder, field: field)
                return Made(reader: .field(field))
            }
            let images = try ImageFiles(configuration)
            let field = VirtualField()
            for tag in images.tags { field.bring(tag) }
            return Made(reader: .field(field), onSessionEnd: images.saver)
        } catch {
            return Made(reader: .none(reason: error.reason))
        }
    }

    /// A recording as a reader, or the reason why there is none.
    private static func replay(_ path: String?, _ onDeparture: (@Sendable (ReplayDeparture) -> Void)?) -> Made {
        guard let path, !path.isEmpty else { return Made(reader: .none(reason: "Name the recording: replay:FILE.")) }
        do throws(RecordingError) {
            return Made(
                reader: RecordingReplay(try Recording(path: path), onDeparture: onDeparture).reader,
                usesGate: false
            )
        } catch {
            return Made(reader: .none(reason: TerminalText.escaped(error.reason)), recordingError: error)
        }
    }

    /// Where apps of the process are cards.
    private static func cardPort(_ name: String?) -> (any CardReaderPort)? {
        guard let parts = name?.split(separator: ":", maxSplits: 1), parts.first == "pcsc" else { return nil }
        return PCSCCardPort(path: parts.count == 2 ? String(parts[1]) : nil)
    }

    // MARK: PCSC

    /// A PC/SC reader, or the reason why there is none.
    ///
    /// - Parameter name: a part of its name; nil for the first.
    static func pcscReader(_ name: String?) -> Reader {
        do throws(LinkError) {
            return .discovering(try PCSCReader.find(name.map(ReaderChoice.named) ?? .first))
        } catch {
            return .none(reason: TerminalText.escaped(error.reason))
        }
    }

    /// The reader of a configuration that names none: the first contactless one, else the virtual field. Images of tags
    /// are for the virtual field.
    static func defaultReader(_ configuration: ReaderConfiguration) -> String {
        configuration.tags == nil && PCSCReader.isContactlessReaderThere ? "pcsc" : "virtual"
    }

    // MARK: PN532

    /// A PN532, which is a card for other readers too.
    ///
    /// Its line is opened when a session begins: an adapter that is plugged in later is found then.
    ///
    /// - Parameter connection: the path of a serial line, with its speed where it is not the usual one.
    static func pn532(_ connection: String) -> (reader: Reader, cardPort: (any CardReaderPort)?) {
        do throws(LinkError) {
            let reader = try PN532Reader(connection)
            let port = PN532CardPort(try PN532Card(connection)) { error in
                OutputDescriptor.standardError.write("\(TerminalText.escaped(error.reason))\n")
            }
            return (.discovering(reader), port)
        } catch {
            return (.none(reason: TerminalText.escaped(error.reason)), nil)
        }
    }

    // MARK: The service

    /// The environment of the service that reads tags in the background: it asks nobody for the reader, shows no sheet, and
    /// takes a reader that comes later.
    ///
    /// - Parameter configuration: which reader; the first of PC/SC when it names none. The virtual one has tags only where
    ///   images are named.
    public static func background(_ configuration: ReaderConfiguration) -> NFCEnvironment {
        let name = configuration.reader ?? (configuration.tags == nil ? "pcsc" : "virtual")
        let parts = name.split(separator: ":", maxSplits: 1)
        switch parts.first {
        case "pcsc":
            let choice = parts.dropFirst().first.map { ReaderChoice.named(String($0)) } ?? .firstContactless
            return NFCEnvironment(reader: .discovering(PCSCReader(choice)))
        case "virtual" where configuration.tags == nil:
            return NFCEnvironment(reader: .field(VirtualField()))
        default:
            var configuration = configuration
            configuration.reader = name
            return NFCEnvironment(reader: NFCEnvironment(configuration).reader)
        }
    }
}

/// Which reader a process uses, by name.
public struct ReaderConfiguration: Sendable, Hashable {
    /// The reader: `virtual`, `pcsc[:NAME]`, `pn532:PATH`, `replay:FILE` or `none`; nil for what there is.
    public var reader: String?
    /// Image files to bring near the virtual field, with commas between; nil for a demonstration tag.
    public var tags: String?
    /// Whether images are written back after each session that changed their tag.
    public var savesTags: Bool
    /// Where apps that are cards meet readers: `pcsc[:SOCKET]`; nil where nothing can be a card.
    public var cardReader: String?
    /// The file that keeps all that goes on at the reader; nil for none.
    public var recording: String?

    /// Creates a configuration.
    public init(
        reader: String? = nil,
        tags: String? = nil,
        savesTags: Bool = false,
        cardReader: String? = nil,
        recording: String? = nil
    ) {
        self.reader = reader
        self.tags = tags
        self.savesTags = savesTags
        self.cardReader = cardReader
        self.recording = recording
    }

    /// What `NFC_READER`, `NFC_TAGS`, `NFC_TAGS_SAVE`, `NFC_CARD_READER` and `NFC_RECORD` say.
    public static var ofProcess: ReaderConfiguration {
        ReaderConfiguration(
            reader: environmentValue("NFC_READER").flatMap { $0.isEmpty ? nil : $0 },
            tags: environmentValue("NFC_TAGS"),
            savesTags: !["", "0"].contains(environmentValue("NFC_TAGS_SAVE") ?? ""),
            cardReader: environmentValue("NFC_CARD_READER").flatMap { $0.isEmpty ? nil : $0 },
            recording: environmentValue("NFC_RECORD").flatMap { $0.isEmpty ? nil : $0 }
        )
    }

    private static func environmentValue(_ name: String) -> String? {
        guard let value = unsafe getenv(name) else { return nil }
        return unsafe String(cString: value)
    }
}
