/**
 * The drive: the composition root, where firmware, flash and front end meet.
 *
 * It builds one machine from a profile: timeline, controller parts, flash array, device port, host
 * adapter, firmware. All are saved in construction order. Nothing else in the project knows more
 * than one of nand, sata and firmware.
 */

import { Aragon } from '../hal/aragon.ts';
import type { Content } from '../hal/content/content.ts';
import { TaggedContent } from '../hal/content/tagged-content.ts';
import { Core } from '../hal/core.ts';
import { Dram } from '../hal/dram.ts';
import { DramTable } from '../hal/dram-table.ts';
import type { FaultList } from '../hal/faults/fault-list.ts';
import { FlashOps, LAST_OF_COMMAND, LPN_MASK, METADATA } from '../hal/flash-ops.ts';
import { Geometry } from '../hal/geometry.ts';
import { InterruptController } from '../hal/interrupts.ts';
import { PagePairing } from '../hal/pairing.ts';
import { PowerRails } from '../hal/power.ts';
import { type DriveProfile, ImpossibleProfile } from '../hal/profile.ts';
import type { RegisterView } from '../hal/registers.ts';
import { BigTable } from '../hal/sim/big-table.ts';
import { invariant } from '../hal/sim/invariant.ts';
import { Probe } from '../hal/sim/probe.ts';
import { Machine } from '../hal/sim/snapshot.ts';
import { Timeline } from '../hal/sim/timeline.ts';
import { UndoLog } from '../hal/sim/undo-log.ts';
import { Timers, Watchdog } from '../hal/timers.ts';
import type { NandArray } from '../nand/array.ts';
import type { PageStore } from '../nand/page-store.ts';
import { nandPart } from '../nand/part.ts';
import { Answers } from '../sata/answers.ts';
import { DevicePort } from '../sata/device-port.ts';
import { type CommandSource, HostAdapter } from '../sata/host/adapter.ts';
import { CommandQueue } from '../sata/host/command-queue.ts';
import { Link } from '../sata/link.ts';
import type { SmartCounters } from '../sata/smart.ts';
import type { Board } from './board.ts';
import type { BootState } from './boot.ts';
import { DriveFaultList, DriveFaults } from './drive-faults.ts';
import { buildFlash, type EccWeight } from './drive-flash.ts';
import { Firmware } from './firmware.ts';
import { regionOf } from './ftl/regions.ts';
import { checkProfile } from './profile-check.ts';

/** Flash operations that may be in flight or waiting at once. */
const FLASH_OPS = 8192;

/** What survives a loss of power: the flash array, and the contents it refers to. */
export class NandImage {
  readonly profile: DriveProfile;
  readonly machine: Machine;
  readonly store: PageStore;
  readonly contents: Content;

  constructor(profile: DriveProfile, machine: Machine, store: PageStore, contents: Content) {
    this.profile = profile;
    this.machine = machine;
    this.store = store;
    this.contents = contents;
  }

  /** Every programmed slot with its spare record, in slot order. */
  programmedSlots(): RawSlot[] {
    const { store } = this;
    const { geometry } = store;
    const found: RawSlot[] = [];
    for (let slot = 0; slot < geometry.slots; slot++) {
      const word = store.pageWordOf(slot);
      if (word === 0) continue;
      const isMetadata = (word & METADATA) !== 0;
      found.push({
        slot,
        place: geometry.describe(slot),
        lpn: isMetadata ? -1 : (word & LPN_MASK) - 1,
        order: store.orderOf(slot) >>> 0,
        content: store.contentOf(slot),
        isMetadata,
        isLastOfCommand: (word & LAST_OF_COMMAND) !== 0,
        damageRber: store.damage.rberOf(geometry.blockIndexOf(slot), geometry.pageOf(slot)),
      });
    }
    return found;
  }

  /** A copy that may go its own way; copy on write, so it costs what changes afterwards. */
  fork(): NandImage {
    const machine = new Machine(new Timeline(), new UndoLog());
    const contents = this.contents.fork(machine);
    return new NandImage(this.profile, machine, this.store.fork(contents, machine), contents);
  }
}

/** One programmed slot as a reader of the raw flash finds it. */
export interface RawSlot {
  slot: number;
  /** 'ch0.die1 block 2 page 3 slot 1'. */
  place: string;
  /** Logical page, or -1 for metadata. */
  lpn: number;
  order: number;
  content: number;
  isMetadata: boolean;
  isLastOfCommand: boolean;
  /** Raw bit error rate that a cut or failed operation has added; 0 for a sound page. */
  damageRber: number;
}

export interface DriveOptions {
  /** Seed of all that is drawn; 'bf3' when not given. */
  seed?: string;
  /** Makes the content store; tags when not given. */
  contents?: (machine: Machine) => Content;
  /** Makes the command source; a command queue when not given. */
  source?: (drive: { contents: Content; machine: Machine; timeline: Timeline }) => CommandSource;
  /** How reads are decoded: by the number of wrong bits, or bit by bit; counted when not given. */
  ecc?: EccWeight;
  /** Flash that another drive left behind; the drive takes it over. */
  nand?: NandImage;
}

export class Drive {
  readonly profile: DriveProfile;
  /** Seed of all that is drawn: strength of blocks, bit errors, factory bad blocks. */
  readonly seed: string;
  readonly geometry: Geometry;
  readonly timeline: Timeline;
  readonly machine: Machine;
  readonly probe = new Probe();
  readonly contents: Content;
  readonly arm: Core;
  readonly aragon: Aragon;
  readonly interrupts: InterruptController;
  readonly timers: Timers;
  readonly watchdog: Watchdog;
  readonly dram: Dram;
  readonly power = new PowerRails();
  readonly ops: FlashOps;
  /** Faults over the truth; none at construction. */
  readonly faults: FaultList;
  readonly array: NandArray;
  readonly link: Link;
  readonly port: DevicePort;
  readonly firmware: Firmware;
  readonly host: HostAdapter;
  /** The queue behind the library's own commands; null when another source was given. */
  readonly queue: CommandQueue | null;
  readonly l2p: DramTable;
  readonly validBits: BigTable;
  readonly #troubles: DriveFaults;

  /** Throws ImpossibleProfile when a relation of the profile cannot hold. */
  constructor(profile: DriveProfile, options: DriveOptions = {}) {
    checkProfile(profile);
    this.profile = profile;
    this.seed = options.seed ?? 'bf3';
    this.geometry = new Geometry(profile.geometry);
    this.machine = options.nand?.machine ?? new Machine(new Timeline(), new UndoLog());
    this.timeline = this.machine.timeline;
    const { machine, timeline, probe, geometry } = this;
    this.contents =
      options.nand?.contents ?? options.contents?.(machine) ?? new TaggedContent(machine);
    const { contents } = this;
    machine.add(contents);
    this.arm = machine.add(new Core('arm', 0, profile.armMegahertz, timeline, probe));
    this.aragon = new Aragon(profile.aragonMegahertz, timeline, probe);
    machine.add(this.aragon.core);
    this.interrupts = machine.add(new InterruptController());
    this.timers = machine.add(new Timers(timeline, this.interrupts));
    this.watchdog = machine.add(new Watchdog(timeline, this.arm));
    this.dram = machine.add(new Dram(profile.dram, timeline));
    machine.add(this.power);
    this.ops = machine.add(new FlashOps(FLASH_OPS));
    const part = nandPart(profile.partId);
    const pairing = new PagePairing(geometry.pagesPerBlock, part.pairingScheme);
    this.l2p = this.#mapRegion();
    const descriptors = this.ops.capacity;
    const limits = { dramRegions: this.dram.regions, descriptors };
    this.faults = machine.add(new DriveFaultList(timeline, geometry, this.seed, limits));
    const { ops, interrupts, dram, faults, seed } = this;
    this.array = buildFlash({
      ...{ profile, geometry, pairing, machine, probe, contents, ops, interrupts, dram, faults },
      ...{ seed, ecc: options.ecc ?? 'counted', store: options.nand?.store ?? null },
    });
    this.link = machine.add(new Link(profile.link, timeline));
    const answers = machine.add(new Answers(profile.identity, () => this.#smartCounters()));
    const { link } = this;
    this.port = machine.add(
      new DevicePort({
        ...{ timeline, probe, link, answers, contents, interrupts, dram },
        linkFaults: this.faults,
      }),
    );
    this.validBits = machine.addTable(
      new BigTable('valid-bits', Math.ceil(geometry.slots / 32), machine.log),
    );
    this.firmware = new Firmware(this.#board(pairing), machine);
    const source = options.source?.({ contents, machine, timeline });
    this.queue = source === undefined ? new CommandQueue(contents) : null;
    this.host = machine.add(
      new HostAdapter(timeline, this.port, contents, source ?? (this.queue as CommandQueue)),
    );
    this.port.onSignature = () => this.firmware.boot.signatureSent();
    this.arm.onPanic = () => this.#coreStopped();
    this.aragon.core.onPanic = () => this.#coreStopped();
    this.#troubles = new DriveFaults(this);
    const { superblocks } = this.firmware;
    this.faults.regionOf = (die, block) =>
      regionOf(geometry, superblocks, this.array.store, die, block);
  }

  /** Turns the power on: the boot begins. */
  powerOn(): void {
    invariant(!this.power.on, 'power is off before it is turned on');
    this.power.on = true;
    this.power.cycleCount++;
    this.array.powerOn();
    this.watchdog.start();
    this.firmware.powerGood();
  }

  /**
   * Cuts the power at this instant: what the controller held is gone, the flash keeps what it has
   * finished. Returns a fork of the flash; the drive itself may be powered on again.
   */
  cutPower(): NandImage {
    this.#loseState();
    return this.image.fork();
  }

  /** The rails fall: without a fork, for a drive that goes on with its own flash. */
  powerOff(): void {
    this.#loseState();
  }

  /** Cuts the power at an instant from now on, as an event of the run; see `powerOff`. */
  cutPowerAt(atNs: number): void {
    this.#troubles.cutAt(atNs);
  }

  /** The flash as it is now, not copied. */
  get image(): NandImage {
    return new NandImage(this.profile, this.machine, this.array.store, this.contents);
  }

  /** True when the host may send commands. */
  get isReady(): boolean {
    return this.host.isReady;
  }

  get bootState(): BootState {
    return this.firmware.boot.state;
  }

  /** The broken rule that stopped a core, null while both run. */
  get panic(): { rule: string; task: string; ordinal: number; atNs: number } | null {
    return this.arm.panic ?? this.aragon.core.panic;
  }

  /** Named, addressed registers of every part that has some. */
  registers(): RegisterView[] {
    const { power, interrupts, timers, dram, array, port } = this;
    return [
      ...[power, interrupts, timers, dram, array, port].map((part) => part.registers()),
      this.arm.registers(0x9000_0000),
      this.aragon.core.registers(0x9000_1000),
    ];
  }

  #board(pairing: PagePairing): Board {
    const { readRetryLevels } = this.array.part;
    const { profile, geometry, arm, aragon, interrupts, timers, ops } = this;
    const { array: flash, port: host, contents: content, l2p, validBits, probe } = this;
    return {
      ...{ profile, geometry, pairing, arm, aragon, interrupts, timers, ops },
      ...{ flash, host, content, l2p, validBits, probe, readRetryLevels },
    };
  }

  /** Lays the DRAM out; the map is the region that must fit. */
  #mapRegion(): DramTable {
    const { dram, geometry, profile, machine } = this;
    const pages = Math.ceil(profile.identity.sectors / 8);
    const { writeBufferSlots, burstPages } = profile.policy;
    dram.region('firmware', 256 * 1024);
    dram.region('write-buffer', writeBufferSlots * 4096);
    dram.region('read-buffer', 33 * burstPages * 4096);
    dram.region('copy-buffer', 8 * geometry.dies * geometry.slotsPerUnit * 4096);
    dram.region('valid-bits', geometry.slots / 8);
    dram.region('block-table', geometry.superblocks * 32);
    dram.region('l2p', pages * 4);
    return machine.addTable(new DramTable('l2p', pages, machine.log)) as DramTable;
  }

  #smartCounters(): SmartCounters {
    const { smart, superblocks, stream, collector } = this.firmware;
    const erases = superblocks.eraseCount.reduce((sum, count) => sum + count, 0);
    return {
      runtimeBadBlocks: superblocks.bad.grownCount,
      powerOnHours: Math.floor(this.timeline.nowNs / 3.6e12),
      powerCycles: smart.powerCycles,
      spareSectorsAtFactory: this.profile.spareSectors,
      unplannedPowerLosses: smart.unplannedLosses,
      programFailures: smart.programFailures,
      eraseFailures: smart.eraseFailures,
      uncorrectableReads: smart.uncorrectableReads,
      averageEraseCount: Math.floor(erases / superblocks.count),
      sataCrcErrors: this.port.crcErrorCount,
      hostWrittenSectors: smart.hostWrittenSectors,
      hostReadSectors: smart.hostReadSectors,
      nandProgramUnits:
        smart.programUnits +
        stream.unitCount +
        Math.ceil(collector.movedCount / this.geometry.slotsPerUnit),
    };
  }

  /** One core has stopped: the front end fails, once. */
  #coreStopped(): void {
    if (this.arm.panic === null || this.aragon.core.panic === null) this.port.fail();
  }

  #loseState(): void {
    this.#troubles.powerFalls();
    this.power.on = false;
    this.arm.reset();
    this.aragon.core.reset();
    this.interrupts.reset();
    this.timers.reset();
    this.watchdog.reset();
    this.dram.reset();
    this.array.reset();
    this.ops.reset();
    this.firmware.reset();
    this.port.reset();
    this.host.powerLost();
    this.contents.sweep(this.array.store.countedContents());
    this.l2p.loseContents();
    this.validBits.clear(0, this.validBits.values.length);
  }
}

export { ImpossibleProfile };
