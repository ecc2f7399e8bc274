// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Glibc
import LinuxSupport
import NFCReaders
import NFCSessions
import ReaderEmulation
import TagImages
import TagLink
import VirtualTags

struct EmulateShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show a tag to other programs, as a reader with the tag on it would.",
        discussion: """
            With --pcsc it is a reader of pcscd, for every PC/SC program. With --pn532
            it is a PN532 on a serial line, for libnfc and nfcpy. It prints the settings
            that those programs need, and runs until Ctrl-C. To use the system's pcscd,
            root installs the reader once, with: nfc emulate install. What programs
            write is saved to the image. If it can't be saved, a note says so at the
            start.

            With --air, the PN532 is a real one at that path, and shows the image
            to phones and other readers as a Type 4 tag. It chooses the UID itself. Of an
            image of another type it shows the message, which can't be changed.

            With --facing there is a second PN532 in the field of the first. A program
            can make it a card, as nfc-emulate-forum-tag4 does, and the first reads it.

            \(EmulationCommands.help)

            Examples:
              nfc emulate card.nfc --pcsc --start-pcscd
              nfc emulate card.nfc --pn532 /tmp/pn532 --trace
              nfc emulate card.json --pn532 /dev/ttyUSB0 --air
              nfc emulate --pn532 /tmp/reader --facing /tmp/card

            Exit status: 0 when it was asked to stop or the time is over, 1 when the
            image can't be used or saved, 2 for wrong usage, 3 when no reader can be
            made, 130 after Ctrl-C.
            """
    )

    @Argument(help: ArgumentHelp("The image of the tag; - for standard input.", valueName: "image"))
    var file: String?

    @Option(help: ArgumentHelp("The same, as an option.", valueName: "file"))
    var image: String?

    @Option(help: "The id of the image, if the file has several.")
    var id: String?

    @Option(help: ArgumentHelp("Save what programs write to this file, not to the image.", valueName: "file"))
    var out: String?

    @Flag(help: "Emulate a reader of pcscd.")
    var pcsc = false

    @Option(help: ArgumentHelp("Emulate a PN532 whose serial line is linked at PATH.", valueName: "path"))
    var pn532: String?

    @Flag(help: "With --pn532: show the tag over the air, with the real PN532 at PATH.")
    var air = false

    @Option(help: ArgumentHelp("With --pn532: a second PN532 in its field, instead of an image.", valueName: "path"))
    var facing: String?

    @Flag(help: "With --pcsc: start a private pcscd with only this reader.")
    var startPcscd = false

    @Option(
        help: ArgumentHelp(
            "With --pcsc: create the sockets and pcscd's configuration in this folder.",
            valueName: "folder"
        )
    )
    var folder: String?

    @Option(help: ArgumentHelp("With --pcsc: the reader's name.", valueName: "name"))
    var readerName: String?

    @Option(help: "Stop after this many seconds.")
    var timeout: SecondsArgument?

    @Flag(help: "Read commands from standard input.")
    var commands = false

    @Flag(help: "Show each exchange: the host's commands, and the tag's frames.")
    var trace = false

    @Flag(help: "Print one JSON object per event.")
    var json = false

    mutating func validate() throws {
        if let file {
            guard image == nil || image == file else {
                throw ValidationError("The image is given twice, as \(file) and with --image. Leave out --image.")
            }
            image = file
        }
        guard pcsc != (pn532 != nil) else { throw ValidationError("Give either --pcsc or --pn532 PATH.") }
        if air, pn532 == nil || facing != nil || commands {
            throw ValidationError("--air needs --pn532 PATH, and neither --facing nor --commands.")
        }
        if facing != nil {
            guard pn532 != nil else { throw ValidationError("--facing needs --pn532 PATH.") }
            guard facing != pn532 else { throw ValidationError("The two PN532 need different paths.") }
            if image != nil || id != nil || out != nil || commands {
                throw ValidationError(
                    "With --facing the other program is the card. Leave out the image, --id, --out and --commands."
                )
            }
        } else if image == nil {
            throw ValidationError("Name the image of the tag. To make one: nfc tag create")
        }
        if OutputTarget.isStandardOutput(out) {
            let message = "Standard output is used for the events, so the image can't go there. Name a file with --out."
            throw ValidationError(message)
        }
        if image == "-", commands {
            throw ValidationError(
                "Standard input is the image, so it can't be used for --commands. Name a file."
            )
        }
        if image == "-", out == nil {
            throw ValidationError("The image comes from standard input. Name a file to save it to: --out FILE")
        }
        if !pcsc, startPcscd || folder != nil || readerName != nil {
            throw ValidationError("--start-pcscd, --folder and --reader-name need --pcsc.")
        }
        if let timeout = timeout?.value, !(timeout > 0 && timeout <= 86400) {
            throw ValidationError("--timeout must be a number of seconds above 0, up to 86400.")
        }
    }

    func run() async throws {
        // Read the image before handling signals: it may be a pipe, and Ctrl-C must be able to interrupt the read.
        let file = try image.map { try ImageFile(path: $0, id: id) }
        let signals = EmulationSignals(seconds: timeout?.value)
        let output = EmulationOutput(json: json, onBroken: { signals.outputIsBroken() })
        let end: EmulationSignals.End
        if let pn532, let facing {
            end = try await FacingEmulation(output: output, trace: trace).run(pn532, facing, until: signals)
        } else {
            guard let file else { throw CommandFailure(.usage, "no-image", "Name the image of the tag.") }
            end = try await show(file, signals, output)
        }
        output.ended(end)
        if end == .interrupt { throw ExitCode(CommandFailure.Status.cancelled.rawValue) }
    }

    private func show(
        _ file: ImageFile,
        _ signals: EmulationSignals,
        _ output: EmulationOutput
    ) async throws -> EmulationSignals.End {
        try file.checkTarget(out)
        let tag = air ? try await AirEmulation.tag(for: file) : file.makeTag()
        // The image of another type has another memory.
        let isCopy = air && file.contents.tagType != 4
        if isCopy, out != nil {
            throw CommandFailure(.usage, "usage", "Only the message is shown, so nothing is saved. Leave out --out.")
        }
        if pn532 != nil, tag.technology == .nfcV {
            throw CommandFailure("unsupported", "A PN532 can't read Type 5 tags. Use --pcsc instead.")
        }
        for note in isCopy ? [.messageAlone] : try EmulationNote.all(file, out: out) { output.note(note) }
        let field = VirtualField()
        field.bring(tag)
        let saver = isCopy ? nil : EmulationSaver(file: file, tag: tag, out: out, onSaved: { output.saved($0) })
        let emulation = Emulation(field: field, tag: tag, product: file.product, output: output, saver: saver)
        let result: Result<EmulationSignals.End, EmulationError>
        do throws(EmulationError) {
            let end =
                if air, let pn532, let tag = tag as? VirtualType4Tag {
                    try await AirEmulation(output: output, onExchange: observer(emulation))
                        .run(pn532, tag, product: file.product, until: signals)
                } else if let pn532 {
                    try await showOnPN532(pn532, emulation, signals)
                } else {
                    try await emulateOverPCSC(emulation, signals)
                }
            result = .success(end)
        } catch {
            result = .failure(error)
        }
        // Save changes even if the reader failed, because programs may have written to the tag before.
        try saver?.finish()
        return try result.get()
    }

    private struct Emulation {
        var field: VirtualField
        var tag: any VirtualTag
        var product: String
        var output: EmulationOutput
        var saver: EmulationSaver?

        var commands: EmulationCommands { EmulationCommands(field: field, tag: tag, output: output) }
    }

    private func driver(_ emulation: Emulation) -> any FieldDriver {
        guard trace else { return emulation.field }
        return TracedField(emulation.field) { [output = emulation.output] in output.exchange($0) }
    }

    /// Returns a handler for the host's exchanges that prints them and schedules saving.
    private func observer(_ emulation: Emulation) -> @Sendable (Exchange) -> Void {
        { [trace, output = emulation.output, saver = emulation.saver] exchange in
            if trace { output.exchange(exchange) }
            saver?.mayHaveChanged()
        }
    }

    private func showOnPN532(
        _ path: String,
        _ emulation: Emulation,
        _ signals: EmulationSignals
    ) async throws(EmulationError) -> EmulationSignals.End {
        let server = try PN532Server(path: path, field: driver(emulation), onExchange: observer(emulation))
        emulation.output.readyPN532(
            path: path,
            terminal: server.terminalName,
            product: emulation.product,
            tag: emulation.tag
        )
        let serving = server.start()
        if commands { emulation.commands.start() }
        let end = await signals.wait()
        server.stop()
        await serving.value
        return end
    }

    private func emulateOverPCSC(
        _ emulation: Emulation,
        _ signals: EmulationSignals
    ) async throws(EmulationError) -> EmulationSignals.End {
        let driverPath = try PCSCInstallation.findDriver()
        let folder = try EmulationFolder(folder)
        do throws(EmulationError) {
            let end = try await emulateOverPCSC(emulation, signals, in: folder, driverPath)
            folder.remove()
            return end
        } catch {
            folder.remove(afterFailure: true)
            throw error
        }
    }

    private func emulateOverPCSC(
        _ emulation: Emulation,
        _ signals: EmulationSignals,
        in folder: EmulationFolder,
        _ driverPath: String
    ) async throws(EmulationError) -> EmulationSignals.End {
        var profile = ReaderProfile.showing(emulation.tag.technology)
        // pcscd uses the name in its configuration.
        let installedName = startPcscd ? nil : folder.installedName
        if let name = readerName ?? installedName { profile.name = name }
        let installation = try PCSCInstallation(
            readerName: profile.name,
            socketPath: folder.socketPath,
            driverPath: driverPath
        )
        let configuration = try folder.write(installation.configuration)
        let server = try ReaderServer(
            in: folder.folder,
            profile: profile,
            field: driver(emulation),
            onNotice: { [output = emulation.output] notice in
                output.notice(notice)
                signals.readerIsTaken()
            },
            onExchange: observer(emulation)
        )
        let serving = server.start()
        let daemon: PrivatePCSCD?
        do throws(EmulationError) {
            daemon =
                startPcscd
                ? try PrivatePCSCD(folder: folder.folder, configuration: folder.configurationFolder) : nil
        } catch {
            server.stop()
            await serving.value
            throw error
        }
        var end: EmulationSignals.End?
        if let daemon { end = await signals.waitForReader(daemon) }
        if end == nil {
            emulation.output.readyPCSC(
                reader: profile.name + " 00 00",
                configuration: configuration,
                isInstalled: installedName != nil,
                daemon: daemon,
                product: emulation.product,
                tag: emulation.tag
            )
            if commands {
                var commands = emulation.commands
                commands.server = server
                commands.start()
            }
            end = await signals.wait(watching: daemon)
        }
        server.stop()
        await serving.value
        let failure = signals.daemonFailure
        daemon?.stop()
        if end == .daemonEnded { throw EmulationError(failure ?? "pcscd has ended.") }
        return end ?? .termination
    }
}

/// Two PN532 in each other's field: one acts as a card, and the other reads it.
struct FacingEmulation {
    var output: EmulationOutput
    var trace: Bool

    func run(
        _ first: String,
        _ second: String,
        until signals: EmulationSignals
    ) async throws(EmulationError) -> EmulationSignals.End {
        let fields = (VirtualField(), VirtualField())
        let one = try server(first, in: fields.0, cardIn: fields.1)
        let other: PN532Server
        do throws(EmulationError) {
            other = try server(second, in: fields.1, cardIn: fields.0)
        } catch {
            one.stop()
            await one.start().value
            throw error
        }
        let serving = [one.start(), other.start()]
        output.readyFacing(first, terminal: one.terminalName, facing: second, terminal: other.terminalName)
        let end = await signals.wait()
        one.stop()
        other.stop()
        for work in serving { await work.value }
        return end
    }

    private func server(
        _ path: String,
        in field: VirtualField,
        cardIn other: VirtualField
    ) throws(EmulationError) -> PN532Server {
        let show = { @Sendable [output] (exchange: Exchange) in output.exchange(exchange) }
        return try PN532Server(
            path: path,
            field: trace ? TracedField(field, onExchange: show) : field,
            place: VirtualFieldCardSlot(other),
            onExchange: trace ? show : nil
        )
    }
}

/// A warning shown before a tag is presented to other programs.
struct EmulationNote {
    var name: String
    var text: String

    /// Returns the notes about an image. If `out` is nil, changes are saved to the image's own file.
    ///
    /// - Throws: ``CommandFailure`` if the chosen output file can't hold the tag.
    static func all(_ file: ImageFile, out: String?) throws -> [EmulationNote] {
        guard let obstacle = obstacle(file, out) else { return [] }
        guard out == nil else { throw CommandFailure(obstacle.name, obstacle.text) }
        let step = "Changes that programs make to the tag will be lost. To save them, name a file: --out card.json"
        return [EmulationNote(name: "not-saved", text: obstacle.text + " " + step)]
    }

    static let messageAlone = EmulationNote(
        name: "message-only",
        text: "Only the message is shown, as a read-only Type 4 tag."
    )

    /// Why writes to the tag can't be saved; nil if they can.
    private static func obstacle(_ file: ImageFile, _ out: String?) -> EmulationNote? {
        let path = file.path(out)
        let format = out.flatMap { TagImage.Format(path: $0) } ?? file.format
        if format == .tagInfo {
            let text = "\(path) is not written: TagInfo reports can only be read."
            return EmulationNote(name: "unsupported-format", text: text)
        }
        if format != file.format {
            do throws(TagImageError) {
                _ = try TagImage(file.contents, format: format).encoded()
            } catch {
                return EmulationNote(name: error.code.description, text: "\(path) is not written: \(error.reason)")
            }
        }
        guard mayBeWritten(path) else {
            let text = "\(path) can't be written. Check the folder and its owner."
            return EmulationNote(name: "unwritable-file", text: text)
        }
        return nil
    }

    private static func mayBeWritten(_ path: String) -> Bool {
        if unsafe access(path, F_OK) == 0 { return unsafe access(path, W_OK) == 0 }
        guard let parts = PathParts(path) else { return false }
        return unsafe access(parts.folder, W_OK) == 0
    }
}
