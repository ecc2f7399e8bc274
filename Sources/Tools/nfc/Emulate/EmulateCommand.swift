// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import ReaderEmulation
import TagLink
import VirtualTags

/// `nfc emulate`, and `nfc emulate show`.
struct EmulateShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show a tag to other programs, as a reader with the tag on it would.",
        discussion: """
            With --pcsc it is a reader of pcscd, for every PC/SC program; with --pn532
            a PN532 on a serial line, for libnfc and nfcpy. It says what they have to
            be told, and goes on until Ctrl-C. For the pcscd of the system, root
            installs the reader once, with: nfc emulate install. What they write is
            saved to the image; where that can't be done, and where a card shows no
            more than its UID, it says so first.

            With --facing there is a second PN532 in the field of the first: a program
            that makes it a card, such as nfc-emulate-forum-tag4, is read by the first.

            \(EmulationCommands.help)

            Examples:
              nfc emulate --image card.nfc --pcsc --start-pcscd
              nfc emulate --image card.nfc --pn532 /tmp/pn532 --trace
              nfc emulate --pn532 /tmp/reader --facing /tmp/card

            Exit status: 0 when it was asked to end or the time is over, 1 when the
            image can't be used or saved, 2 for wrong usage, 3 when no reader can be
            made, 130 after Ctrl-C.
            """
    )

    @Option(help: ArgumentHelp("The image of the tag; - for standard input.", valueName: "file"))
    var image: String?

    @Option(help: "The id of the image, where the file has several.")
    var id: String?

    @Option(help: ArgumentHelp("Save what was written here, and not to the image.", valueName: "file"))
    var out: String?

    @Flag(help: "Be a reader of pcscd.")
    var pcsc = false

    @Option(help: ArgumentHelp("Be a PN532; PATH becomes a link to its serial line.", valueName: "path"))
    var pn532: String?

    @Option(help: ArgumentHelp("With --pn532, in place of an image: a second PN532 in its field.", valueName: "path"))
    var facing: String?

    @Flag(help: "With --pcsc: start a pcscd that has this reader alone.")
    var startPcscd = false

    @Option(help: ArgumentHelp("With --pcsc: write the lines for pcscd to this folder.", valueName: "folder"))
    var readerConf: String?

    @Option(help: ArgumentHelp("With --pcsc: make the sockets in this folder.", valueName: "folder"))
    var folder: String?

    @Option(help: ArgumentHelp("With --pcsc: the reader's name.", valueName: "name"))
    var readerName: String?

    @Option(help: "End after so many seconds.")
    var timeout: SecondsArgument?

    @Flag(help: "Take commands from standard input.")
    var commands = false

    @Flag(help: "Show each exchange: the host's commands, and the tag's frames.")
    var trace = false

    @Flag(help: "Print one JSON object a line for all that happens.")
    var json = false

    func validate() throws {
        guard pcsc != (pn532 != nil) else { throw ValidationError("Give one of --pcsc and --pn532 PATH.") }
        if facing != nil {
            guard pn532 != nil else { throw ValidationError("--facing goes with --pn532 PATH.") }
            guard facing != pn532 else { throw ValidationError("The two PN532 need a path each.") }
            if image != nil || id != nil || out != nil || commands {
                throw ValidationError(
                    "With --facing the other program is the card: leave out --image, --id, --out and --commands."
                )
            }
        } else if image == nil {
            throw ValidationError("Give the tag: --image FILE. A blank one is made by: nfc tag create")
        }
        if OutputTarget.isStandardOutput(out) {
            throw ValidationError(
                "Standard output says what happens, and has no room for the image. Name a file with --out."
            )
        }
        if image == "-", commands {
            throw ValidationError(
                "Standard input has the image, and no room for --commands. Name a file with --image FILE."
            )
        }
        try OutputTarget.check(image: image, out: out, savesImage: true, json: json)
        if !pcsc, startPcscd || readerConf != nil || folder != nil || readerName != nil {
            throw ValidationError("--start-pcscd, --reader-conf, --folder and --reader-name go with --pcsc.")
        }
        if let timeout = timeout?.value, !(timeout > 0 && timeout <= 86400) {
            throw ValidationError("--timeout takes more than 0 and at most 86400 seconds.")
        }
    }

    func run() async throws {
        let end = try await reportingFailure(json: json, emulate)
        if end == .interrupt { throw ExitCode(CommandFailure.Status.cancelled.rawValue) }
    }

    private func emulate() async throws(CommandFailure) -> EmulationSignals.End {
        // Read before signals are taken: it may be a pipe, and Ctrl-C ends the wait for it.
        let file = try image.map { (path) throws(CommandFailure) in try ImageFile(path: path, id: id) }
        let signals = EmulationSignals(seconds: timeout?.value)
        let output = EmulationOutput(json: json) { signals.outputIsBroken() }
        if let pn532, let facing {
            do throws(EmulationError) {
                return try await FacingEmulation(output: output, trace: trace).run(pn532, facing, until: signals)
            } catch {
                throw CommandFailure(.noReader, "no-reader", error.reason)
            }
        }
        guard let file else { throw CommandFailure(.usage, "no-image", "Give the tag: --image FILE.") }
        try file.checkTarget(out)
        let tag = file.makeTag()
        if pn532 != nil, tag.technology == .nfcV {
            throw CommandFailure(
                .refused,
                "unsupported",
                "A PN532 finds no Type 5 tags. Use --pcsc, whose reader does."
            )
        }
        for note in try EmulationNote.all(file, out: out) { output.note(note) }
        let field = VirtualField()
        field.bring(tag)
        let saver = EmulationSaver(file: file, tag: tag, out: out, output: output)
        let shown = Shown(field: field, tag: tag, product: file.product, output: output, saver: saver)
        let end: EmulationSignals.End
        do throws(EmulationError) {
            end =
                if let pn532 { try await offerPN532(pn532, shown, signals) } else {
                    try await offerPCSC(shown, signals)
                }
        } catch {
            throw CommandFailure(.noReader, "no-reader", error.reason)
        }
        try saver.finish()
        output.ended(end)
        return end
    }

    /// What both ways of showing a tag need.
    private struct Shown {
        var field: VirtualField
        var tag: any VirtualTag
        var product: String
        var output: EmulationOutput
        var saver: EmulationSaver

        var commands: EmulationCommands { EmulationCommands(field: field, tag: tag, output: output) }
    }

    /// The field, which tells of each frame when that is wanted.
    private func driver(_ shown: Shown) -> any FieldDriver {
        guard trace else { return shown.field }
        return TracedField(shown.field) { [output = shown.output] in output.exchange($0) }
    }

    /// Takes the host's exchanges: they are shown, and what they have written is saved soon.
    private func observer(_ shown: Shown) -> @Sendable (Exchange) -> Void {
        { [trace, output = shown.output, saver = shown.saver] exchange in
            if trace { output.exchange(exchange) }
            saver.mayHaveChanged()
        }
    }

    private func offerPN532(
        _ path: String,
        _ shown: Shown,
        _ signals: EmulationSignals
    ) async throws(EmulationError) -> EmulationSignals.End {
        let server = try PN532Server(path: path, field: driver(shown), onExchange: observer(shown))
        shown.output.readyPN532(path: path, terminal: server.terminalName, product: shown.product, tag: shown.tag)
        let serving = server.start()
        if commands { shown.commands.start() }
        let end = await signals.wait()
        server.stop()
        await serving.value
        return end
    }

    private func offerPCSC(
        _ shown: Shown,
        _ signals: EmulationSignals
    ) async throws(EmulationError) -> EmulationSignals.End {
        let driverPath = try PCSCInstallation.findDriver()
        let place = try EmulationFolder(folder, readerConf: readerConf)
        var profile = ReaderProfile.showing(shown.tag.technology)
        // pcscd has the name from the lines that it read.
        let installedName = startPcscd || readerConf != nil ? nil : place.installedName
        if let name = readerName ?? installedName { profile.name = name }
        let installation = try PCSCInstallation(
            readerName: profile.name,
            socketPath: place.socketPath,
            driverPath: driverPath
        )
        try place.checkRights(driverPath: driverPath)
        let configuration = try place.write(installation.configuration)
        let server = try ReaderServer(
            in: place.folder,
            profile: profile,
            field: driver(shown),
            onNotice: { [output = shown.output] notice in
                output.notice(notice)
                signals.readerIsTaken()
            },
            onExchange: observer(shown)
        )
        let serving = server.start()
        let daemon: PrivatePCSCD?
        do throws(EmulationError) {
            daemon = startPcscd ? try PrivatePCSCD(folder: place.folder, configuration: place.configurationFolder) : nil
        } catch {
            server.stop()
            await serving.value
            place.remove()
            throw error
        }
        var end: EmulationSignals.End?
        if let daemon { end = await signals.waitForReader(daemon) }
        if end == nil {
            shown.output.readyPCSC(
                reader: profile.name + " 00 00",
                configuration: configuration,
                isInstalled: installedName != nil,
                daemon: daemon,
                product: shown.product,
                tag: shown.tag
            )
            if commands {
                var commands = shown.commands
                commands.server = server
                commands.start()
            }
            end = await signals.wait(watching: daemon)
        }
        server.stop()
        await serving.value
        let failure = signals.daemonFailure
        daemon?.stop()
        place.remove()
        if end == .daemonEnded { throw EmulationError(failure ?? "pcscd has ended.") }
        return end ?? .termination
    }
}
