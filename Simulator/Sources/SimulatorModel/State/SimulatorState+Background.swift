// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
import NFCSessions
import VirtualTags

extension SimulatorState {
    /// How long a banner is shown, and how long the prompt that a tag has no usable data.
    static let bannerTime = Duration.seconds(6)
    static let promptTime = Duration.seconds(2)

    /// Handles an event of the background watcher.
    mutating func watched(_ event: TagWatcher.Event) {
        guard !watchesReplacedTags else { return }
        switch event {
        case .available, .unavailable: break
        case .near(let identifiers): apply(background.handle(.near(identifiers), now: now))
        case .read(let reading):
            let id = InboxEntry.ID(received: wallTime, number: UInt32.random(in: 0...UInt32.max))
            let tag = field.near.first { $0.tag.answers(to: reading.identifier) }?.id
            note(.background, "Read in the background", source: "background", tag: tag)
            apply(
                background.read(
                    TagReading(identifier: reading.identifier, message: reading.message),
                    id,
                    now: now
                )
            )
            if let summary = background.lastWhy?["title"]?.string {
                note(.background, summary, source: "background", tag: tag)
            }
        }
    }

    /// Records that background reading has released the reader.
    mutating func watchingStopped() {
        watchesReplacedTags = false
        apply(turns.watchingStopped())
        // Background reading may have been asked to start again in the meantime.
        if background.isLooking, !turns.isWatched { startWatching() }
    }

    /// Starts background reading, unless the radio is off.
    private mutating func startWatching() {
        guard switches.radio else { return }
        turns.watchingStarted()
        effects.append(.startWatching)
    }

    /// Stops or starts background reading after the radio was turned off or on. The service itself would keep looking
    /// for its reader.
    mutating func radioChanged() {
        guard background.isLooking, turns.isWatched != switches.radio else { return }
        if switches.radio { startWatching() } else { effects.append(.stopWatching) }
    }

    mutating func apply(_ outcomes: [BackgroundService.Outcome]) {
        for outcome in outcomes {
            switch outcome {
            case .startLooking: if !turns.isWatched { startWatching() }
            case .stopLooking: effects.append(.stopWatching)
            case .showBanner(let banner): show(banner)
            case .hideBanner(let id): if phone.banner?.id == id { phone.banner = nil }
            case .askToUnlock: phone.prompt = .unlock
            case .showNoData: showNoData()
            case .openApp(let id, let payload): open(app: id, payload)
            case .openURL(let url, let place):
                note(.background, "\(DisplayText.plain(url, limit: 200)) opens in \(place)", source: "background")
            case .changed: touch(.notifications)
            case .note(let words): note(.background, words, source: "background")
            }
        }
        if !outcomes.isEmpty { touch(.phone) }
    }

    private mutating func show(_ banner: Phone.Banner) {
        phone.banner = banner
        if phone.prompt == .noData { phone.prompt = nil }
        bannerNumber = nextBanner()
        effects.append(.schedule(Self.bannerTime, .bannerEnds(id: banner.id, number: bannerNumber)))
    }

    private mutating func showNoData() {
        phone.banner = nil
        phone.prompt = .noData
        bannerNumber = nextBanner()
        effects.append(.schedule(Self.promptTime, .promptEnds(number: bannerNumber)))
    }

    /// Delivers a link and its tag's message to an app.
    private mutating func open(app id: String, _ payload: UserActivityPayload) {
        guard let app = apps.apps.first(where: { $0.description?.id == id || $0.id == id }) else { return }
        phone.front = app.id
        note(.background, "\(app.name) gets \(DisplayText.plain(payload.webpageURL, limit: 200))", source: "background")
        let event: JSON = [
            "event": "link", "url": .string(payload.webpageURL), "activity_type": .string(payload.activityType),
            "message_hex": .string(payload.message.hex),
        ]
        let clients = app.clients.filter { apps.clients[$0]?.isApp == true }
        if clients.isEmpty {
            waitingLinks[app.id] = event
            if let command = app.command, !app.isRunning { effects.append(.startApp(app.id, command: command)) }
        }
        for client in clients { effects.append(.send(client, event)) }
    }

    mutating func fired(_ timer: Timer) {
        switch timer {
        case .tapEnds(let tag, let visit): if visits[tag] == visit { remove(tag) }
        case .bannerEnds(let id, let number):
            guard bannerNumber == number, phone.banner?.id == id else { return }
            phone.banner = nil
            touch(.phone)
        case .promptEnds(let number):
            guard bannerNumber == number, phone.prompt == .noData else { return }
            phone.prompt = nil
            touch(.phone)
        case .personCancels(let client):
            guard switches.userCancels, phone.sheet?.client == client, phone.sheet?.canCancel == true else { return }
            cancelSheet()
        }
    }

    mutating func cancelSheet() {
        guard let sheet = phone.sheet else { return }
        journal.add(.cancel)
        note(.sheet, "The user cancels", source: sheet.app)
        effects.append(.send(sheet.client, ["event": "cancel"]))
    }
}
