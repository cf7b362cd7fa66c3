// What the page says, in the reader's language, and how it writes numbers and dates.
//
// Each language is one file in assets/text whose default export maps keys to sentences. `{name}` is replaced by a
// value. Where the number decides the form, the entry is an object by plural category (`one`, `other`) and the number
// is `count`.

import { remembered } from './preferences.js';

export const languages = { en: 'English', de: 'Deutsch' };

let sentences = {};
let language = 'en';
let formats = {};

/** Loads the sentences: those that were chosen, else the browser's first language that there is. */
export async function loadLanguage() {
  const wanted = [remembered('language'), ...navigator.languages];
  const known = wanted.map((tag) => tag?.toLowerCase().split('-')[0]).find((tag) => tag in languages);
  language = known ?? 'en';
  ({ default: sentences } = await import(`../text/${language}.js`));
  document.documentElement.lang = language;
  // A reader of English in Germany writes dates as her browser does, in English.
  const region = navigator.languages.find((tag) => tag.toLowerCase().startsWith(language)) ?? language;
  const day = { timeZone: 'UTC', day: 'numeric', month: 'long', year: 'numeric' };
  formats = {
    plural: new Intl.PluralRules(region),
    number: new Intl.NumberFormat(region),
    decimal: new Intl.NumberFormat(region, { maximumSignificantDigits: 3 }),
    percent: new Intl.NumberFormat(region, { style: 'percent' }),
    day: new Intl.DateTimeFormat(region, { ...day, weekday: 'long' }),
    mediumDay: new Intl.DateTimeFormat(region, { timeZone: 'UTC', dateStyle: 'medium' }),
    shortDay: new Intl.DateTimeFormat(region, { timeZone: 'UTC', day: 'numeric', month: 'short', weekday: 'short' }),
    monthName: new Intl.DateTimeFormat(region, { timeZone: 'UTC', month: 'short' }),
    month: new Intl.DateTimeFormat(region, { timeZone: 'UTC', month: 'long', year: 'numeric' }),
    shortMonth: new Intl.DateTimeFormat(region, { timeZone: 'UTC', month: 'short', year: 'numeric' }),
    clock: new Intl.DateTimeFormat(region, { ...day, weekday: 'long', hour: 'numeric', minute: '2-digit' }),
    shortClock: new Intl.DateTimeFormat(region, { timeZone: 'UTC', dateStyle: 'medium', timeStyle: 'short' }),
    moment: new Intl.DateTimeFormat(region, { dateStyle: 'medium', timeStyle: 'short' }),
    relative: new Intl.RelativeTimeFormat(region, { numeric: 'auto' }),
    list: new Intl.ListFormat(region),
  };
}

export const currentLanguage = () => language;

/** The sentence of a key. A key that is missing shows itself, so that it is found. */
export function t(key, values = {}) {
  let sentence = sentences[key] ?? key;
  if (typeof sentence === 'object') sentence = sentence[formats.plural.select(values.count)] ?? sentence.other;
  return sentence.replace(/\{(\w+)\}/g, (whole, name) => {
    const value = values[name];
    if (value === undefined || value === null) return whole;
    // Isolated: a name that is written from right to left does not turn the sentence around it. One that means harm would
    // end the isolation with marks of its own, which say nothing.
    return typeof value === 'number' ? number(value) : `\u2068${String(value).replace(/[\u202a-\u202e\u2066-\u2069]/g, '')}\u2069`;
  });
}

/**
 * Whether there is a sentence for a key: for words of the daemon (outcomes, methods) of which later versions have more.
 */
export const has = (key) => key in sentences;

export const number = (value) => formats.number.format(value);
export const percent = (value) => formats.percent.format(value);
export const list = (values) => formats.list.format(values);

const units = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte', 'petabyte'];

/** Bytes in decimal units, three digits: `46.8 MB`. */
export function bytes(count) {
  const power = count < 1000 ? 0 : Math.min(Math.floor(Math.log10(count) / 3), units.length - 1);
  const style = { style: 'unit', unit: units[power], unitDisplay: 'short', maximumSignificantDigits: 3 };
  return new Intl.NumberFormat(formats.number.resolvedOptions().locale, style).format(count / 1000 ** power);
}

const whole = (unit) => (count) => new Intl.NumberFormat(
  formats.number.resolvedOptions().locale, { style: 'unit', unit, unitDisplay: 'long' }).format(count);

/** Whole days: `7 days`; likewise the others. */
export const days = whole('day');
export const hours = whole('hour');
export const minutes = whole('minute');

/** Seconds as people say them: `2 min`. */
export function duration(seconds) {
  const [unit, length] = seconds < 90 ? ['second', 1] : seconds < 5400 ? ['minute', 60] : ['hour', 3600];
  const style = { style: 'unit', unit, unitDisplay: 'short', maximumFractionDigits: 0 };
  return new Intl.NumberFormat(formats.number.resolvedOptions().locale, style).format(Math.ceil(seconds / length));
}

// A camera's clock is in no zone: 14:05 is 14:05 wherever the page is read. It is read and written as if it were UTC.
const clock = (text) => new Date(`${text.slice(0, 19)}Z`);

/** How long a film runs, of milliseconds: `0:12`, `1:02:03`. */
export function runningTime(milliseconds) {
  const seconds = Math.round(milliseconds / 1000);
  const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  if (parts[0] === 0) parts.shift();
  return parts.map((part, place) => (place ? String(part).padStart(2, '0') : String(part))).join(':');
}

export const day = (text) => formats.day.format(new Date(`${text}T00:00:00Z`));
export const mediumDay = (text) => formats.mediumDay.format(new Date(`${text}T00:00:00Z`));
export const shortDay = (text) => formats.shortDay.format(new Date(`${text}T00:00:00Z`));
export const month = (text) => formats.month.format(new Date(`${text}-01T00:00:00Z`));
/** The month without its year: `Aug`. */
export const monthName = (text) => formats.monthName.format(new Date(`${text}-01T00:00:00Z`));
export const shortMonth = (text) => formats.shortMonth.format(new Date(`${text}-01T00:00:00Z`));
export const clockTime = (text) => formats.clock.format(clock(text));
export const shortClockTime = (text) => formats.shortClock.format(clock(text));

const coarse = { year: (text) => text.slice(0, 4), month: (text) => month(text.slice(0, 7)), day: (text) => day(text.slice(0, 10)) };

/** When a photo was taken, as far as it is known: `August 1978`. `write` is for what is known to the minute. */
export const photoTime = (photo, write = clockTime) => (
  (coarse[photo.datePrecision] ?? write)(photo.shownAt ?? photo.takenAt ?? photo.createdAt));

/** A moment (RFC 3339), in the reader's zone. */
export const moment = (text) => formats.moment.format(new Date(text));

/** `3 years ago`, `last year`. */
export const yearsAgo = (years) => formats.relative.format(-years, 'year');

/** How long ago, or until, a moment is: `yesterday`, `in 3 days`. */
export function relative(text) {
  const seconds = (new Date(text) - Date.now()) / 1000;
  const steps = [['second', 60], ['minute', 60], ['hour', 24], ['day', 30], ['month', 12], ['year', Infinity]];
  let value = seconds;
  for (const [unit, next] of steps) {
    if (Math.abs(value) < next) return formats.relative.format(Math.round(value), unit);
    value /= next;
  }
}
