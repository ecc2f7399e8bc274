// SPDX-License-Identifier: Apache-2.0
package import FleetMQTT
package import FleetModel

/// What an agent does.
package struct AgentSettings: Sendable {
    package var topics = FleetTopics.usual
    package var removalDelay = Duration.milliseconds(300)
    /// The most events that wait for their acknowledgement.
    package var inFlight = 20
    /// How tags are named.
    package var naming = TagNaming()
    /// Which app opens a tag's link; nil where no apps are configured.
    package var links: LinkVerdict?
    package var acceptsJobs = true
    package var keys = JobKeys()
    package var secrets = SecretsFolder(nil)
    /// Home Assistant's discovery prefix; nil for no discovery.
    package var discoveryPrefix: String? = "homeassistant"
    /// How long readers may take to be found. Until then what is retained for a reader that was there earlier is kept.
    package var readerGrace = Duration.zero
    package var log = AgentLog.silent
    /// What `bridge/info` says about the spool.
    package var spool = AgentConfiguration.SpoolPart()
    /// The thread that does the agent's work, but for waiting for readers and for the disk.
    package var loop = EventLoop.agents
    /// The thread of the connection; nil for one of its own. Thousands of agents of a process may share one with their
    /// work, where the broker has an address rather than a name: finding that holds the thread.
    package var connectionLoop: EventLoop?

    package init() {}
}
